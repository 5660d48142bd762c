package gc

import "granary/internal/core/sys"

// CheckFinalization walks the tables of links and finalizers, and returns "" or what is wrong. Nobody else may use the
// heap meanwhile.
func (h *Heap) CheckFinalization() string {
	f := &h.final
	if !f.short.checkTable() || !f.long.checkTable() || !f.finalizers.checkTable() || !f.toggles.checkTable() {
		return "gc: a table of links or finalizers has lost an entry"
	}
	if uintptr(f.ready) != f.queue.length() || f.queue.length() > f.queue.slots {
		return "gc: the finalizers that are ready are miscounted"
	}
	for slot := uintptr(0); slot < f.finalizers.slots(); slot++ {
		e := f.finalizers.entry(slot)
		if e.Word() != 0 && ((e+sys.WordBytes).Word() == 0 || (e+3*sys.WordBytes).Word() >= orderCount) {
			return "gc: a finalizer has no function, or an order that there is not"
		}
	}
	for number := f.queue.head; number != f.queue.tail; number++ {
		obj := sys.Addr(f.queue.entry(number).Word())
		if h.BaseOf(obj) != obj {
			return "gc: an object whose finalizer is ready is gone"
		}
	}
	return ""
}
