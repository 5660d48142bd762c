package main

import (
	"runtime"
	"sync/atomic"
	"weak"
)

// What these workloads do is described in the files of the same names in the folder c.

type cell struct {
	next  *cell
	value uint64
}

func linkedList(scale float64) uint64 {
	cells, churn := scaled(scale, 3000000, 1000), scaled(scale, 20000000, 1000)
	seed := random(7)
	order := make([]*cell, cells)
	for i := range order {
		order[i] = &cell{value: uint64(i)}
	}
	for i := cells - 1; i > 0; i-- {
		j := seed.below(uint32(i) + 1)
		order[i], order[j] = order[j], order[i]
	}
	var list *cell
	for _, c := range order {
		c.next = list
		list = c
	}
	order = nil
	checksum := uint64(0)
	var brief *cell
	for i := range churn {
		c := &cell{value: uint64(i)}
		if i%64 != 0 {
			c.next = brief
		}
		brief = c
		if i%64 == 63 {
			for c := brief; c != nil; c = c.next {
				checksum += c.value
			}
		}
	}
	for c := list; c != nil; c = c.next {
		checksum += mix(c.value)
	}
	return checksum
}

type entry struct {
	next        *entry
	key         []byte
	hash, value uint64
}

func hashOf(key []byte) uint64 {
	hash := uint64(14695981039346656037)
	for _, b := range key {
		hash = (hash ^ uint64(b)) * 1099511628211
	}
	return hash
}

func newKey(seed *random) []byte {
	key := make([]byte, 8+seed.below(193))
	fillKey(key, seed)
	return key
}

func fillKey(key []byte, seed *random) {
	bits := seed.next()
	for i := range key {
		key[i] = byte('a' + (bits+uint64(i))%26)
		bits = bits*6364136223846793005 + 1442695040888963407
	}
}

const buckets = 1 << 17

func stringTable(scale float64) uint64 {
	live, replaced := scaled(scale, 200000, 100), scaled(scale, 2000000, 1000)
	table := make([]*entry, buckets)
	seed := random(11)
	checksum := uint64(0)
	for i := range live + replaced {
		key := newKey(&seed)
		hash := hashOf(key)
		if i >= live {
			at := seed.below(buckets)
			for range buckets {
				if table[at] != nil {
					break
				}
				at = (at + 1) % buckets
			}
			victim := &table[at]
			for (*victim).next != nil {
				victim = &(*victim).next
			}
			checksum += (*victim).value + uint64((*victim).key[0])
			*victim = nil
		}
		bucket := &table[hash%buckets]
		*bucket = &entry{*bucket, key, hash, uint64(i)}
	}
	for _, e := range table {
		for ; e != nil; e = e.next {
			checksum += mix(e.hash+e.value) + bit(e.hash == hashOf(e.key))
		}
	}
	return checksum
}

type item struct{ value, pad uint64 }

func largeArrays(scale float64) uint64 {
	const count = 64
	var arrays [count][]*item
	seed := random(5)
	checksum := uint64(0)
	for round := range scaled(scale, 700, 80) {
		slot := seed.below(count)
		old := arrays[slot]
		for i := 0; i < len(old); i += 64 {
			checksum += mix(old[i].value)
		}
		array := make([]*item, 32768+seed.below(229376))
		arrays[slot] = array
		for i := 0; i < len(array); i += 8 {
			array[i] = &item{value: uint64(round) ^ uint64(i)}
		}
	}
	return checksum
}

type object struct {
	value uint64
	other *object
}

var finalized atomic.Uint64

func weakObjects(scale float64) uint64 {
	live, total := scaled(scale, 150000, 500), scaled(scale, 2000000, 2000)
	strong := make([]*object, live)
	links := make([]weak.Pointer[object], live)
	seed := random(3)
	for i := range total {
		o := &object{value: uint64(i)}
		slot := i
		if i >= live {
			slot = seed.below(uint32(live))
		}
		strong[slot] = o
		links[slot] = weak.Make(o)
		if i%4 == 0 {
			runtime.SetFinalizer(o, func(o *object) { finalized.Add(bit(o.value%4 == 0)) })
		}
	}
	runtime.GC()
	checksum := uint64(0)
	for i := range links {
		if o := links[i].Value(); o == strong[i] {
			checksum += mix(o.value)
		} else {
			checksum++
		}
	}
	return checksum
}
