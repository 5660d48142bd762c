package main

import (
	"unsafe"

	"granary/managed"
)

type managedCell struct {
	next  managed.Ptr[managedCell]
	value uint64
}

// managedOrder are the cells of the list in a random order, as a list.
func managedOrder(cells int) *managedCell {
	seed := random(7)
	order := keepSlice(createSlice[managed.Ptr[managedCell]](cells))
	for i := range order {
		c := create[managedCell]()
		c.value = uint64(i)
		order[i].Set(c)
	}
	for i := cells - 1; i > 0; i-- {
		j := seed.below(uint32(i) + 1)
		one, other := order[i].Get(), order[j].Get()
		order[i].Set(other)
		order[j].Set(one)
	}
	var list *managedCell
	for i := range order {
		c := order[i].Get()
		c.next.Set(list)
		list = c
	}
	drop(1)
	return list
}

func managedLinkedList(scale float64) uint64 {
	cells, churn := scaled(scale, 3000000, 1000), scaled(scale, 20000000, 1000)
	list := keep(managedOrder(cells))
	checksum := uint64(0)
	keep[managedCell](nil)
	var brief *managedCell
	for i := range churn {
		c := create[managedCell]()
		c.value = uint64(i)
		if i%64 != 0 {
			c.next.Set(brief)
		}
		brief = c
		managedStack.SetTop(0, uintptr(unsafe.Pointer(brief)))
		if i%64 == 63 {
			for c := brief; c != nil; c = c.next.Get() {
				checksum += c.value
			}
		}
	}
	for c := list; c != nil; c = c.next.Get() {
		checksum += mix(c.value)
	}
	return checksum
}

type managedEntry struct {
	next        managed.Ptr[managedEntry]
	key         managed.Slice[byte]
	hash, value uint64
}

// managedRemove takes the last entry of a chain off, and returns it.
func managedRemove(chain *managed.Ptr[managedEntry]) *managedEntry {
	for !chain.Get().next.IsNil() {
		chain = &chain.Get().next
	}
	last := chain.Get()
	chain.Set(nil)
	return last
}

func managedStringTable(scale float64) uint64 {
	live, replaced := scaled(scale, 200000, 100), scaled(scale, 2000000, 1000)
	table := keepSlice(createSlice[managed.Ptr[managedEntry]](buckets))
	seed := random(11)
	checksum := uint64(0)
	for i := range live + replaced {
		key := keepSlice(createSlice[byte](8 + seed.below(193)))
		fillKey(key, &seed)
		hash := hashOf(key)
		if i >= live {
			at := seed.below(buckets)
			for range buckets {
				if !table[at].IsNil() {
					break
				}
				at = (at + 1) % buckets
			}
			victim := managedRemove(&table[at])
			checksum += victim.value + uint64(victim.key.Get()[0])
		}
		e := create[managedEntry]()
		bucket := &table[hash%buckets]
		e.next.Set(bucket.Get())
		e.key.Set(key)
		e.hash, e.value = hash, uint64(i)
		bucket.Set(e)
		drop(1)
	}
	for i := range table {
		for e := table[i].Get(); e != nil; e = e.next.Get() {
			checksum += mix(e.hash+e.value) + bit(e.hash == hashOf(e.key.Get()))
		}
	}
	return checksum
}

func managedLargeArrays(scale float64) uint64 {
	const count = 64
	arrays := keepSlice(createSlice[managed.Slice[managed.Ptr[item]]](count))
	seed := random(5)
	checksum := uint64(0)
	for round := range scaled(scale, 700, 80) {
		slot := seed.below(count)
		old := arrays[slot].Get()
		for i := 0; i < len(old); i += 64 {
			checksum += mix(old[i].Get().value)
		}
		array := createSlice[managed.Ptr[item]](32768 + seed.below(229376))
		arrays[slot].Set(array)
		for i := 0; i < len(array); i += 8 {
			it := create[item]()
			it.value = uint64(round) ^ uint64(i)
			array[i].Set(it)
		}
	}
	return checksum
}

type managedObject struct {
	value uint64
	other managed.Ptr[managedObject]
}

func managedWeakObjects(scale float64) uint64 {
	live, total := scaled(scale, 150000, 500), scaled(scale, 2000000, 2000)
	strong := keepSlice(createSlice[managed.Ptr[managedObject]](live))
	links := keepSlice(createSlice[managed.Weak[managedObject]](live))
	seed := random(3)
	finalizer := func(_ *managed.Mutator, o *managedObject) { finalized.Add(bit(o.value%4 == 0)) }
	for i := range total {
		o := create[managedObject]()
		o.value = uint64(i)
		slot := i
		if i >= live {
			slot = seed.below(uint32(live))
		}
		strong[slot].Set(o)
		if err := links[slot].Set(mutator, o); err != nil {
			stop(err)
		}
		if i%4 == 0 {
			if err := managed.SetFinalizer(mutator, o, finalizer, managed.Topological); err != nil {
				stop(err)
			}
		}
	}
	mutator.Collect()
	checksum := uint64(0)
	for i := range links {
		if o := links[i].Get(); o == strong[i].Get() {
			checksum += mix(o.value)
		} else {
			checksum++
		}
	}
	return checksum
}
