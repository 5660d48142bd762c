package managed

import (
	"sync"
	"sync/atomic"
)

// numbered gives numbers to Go values that managed objects refer to. The values stay for ever: there are few.
type numbered[V comparable] struct {
	mu      sync.Mutex
	numbers map[V]uint32
	values  atomic.Pointer[[]V]
}

// number is that of a value, from 1 on.
func (n *numbered[V]) number(value V) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if number, ok := n.numbers[value]; ok {
		return number
	}
	if n.numbers == nil {
		n.numbers = map[V]uint32{}
	}
	var values []V
	if old := n.values.Load(); old != nil {
		values = append(values, *old...)
	}
	values = append(values, value)
	n.values.Store(&values)
	n.numbers[value] = uint32(len(values))
	return uint32(len(values))
}

// get is the value with a number.
func (n *numbered[V]) get(number uint32) V { return (*n.values.Load())[number-1] }
