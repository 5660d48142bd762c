package main

import (
	"granary/heap"
)

// entry is an entry of the cache: no Go pointers in it, and none to it, so the collector never looks.
//
//	next           the entries of one bucket
//	newer, older   the order of use
type entry struct {
	key          uint64
	value        [24]byte
	next         heap.Ref[entry]
	newer, older heap.Ref[entry]
}

// cache is a map of a fixed number of entries; the one that was used longest ago makes room for a new one.
type cache struct {
	heap           *heap.Heap
	buckets        []heap.Ref[entry] // off the Go heap as well
	newest, oldest heap.Ref[entry]
	count, most    int
}

func newCache(h *heap.Heap, most int) (*cache, error) {
	buckets := 1
	for buckets < most {
		buckets *= 2
	}
	table, err := heap.MakeSlice[heap.Ref[entry]](h, buckets, buckets)
	return &cache{heap: h, buckets: table, most: most}, err
}

func (c *cache) bucket(key uint64) *heap.Ref[entry] {
	return &c.buckets[(key*0x9e3779b97f4a7c15>>20)&uint64(len(c.buckets)-1)]
}

// get returns a value, and makes its entry the newest.
func (c *cache) get(key uint64) (value [24]byte, ok bool) {
	for r := *c.bucket(key); !r.IsZero(); r = r.Get().next {
		if e := r.Get(); e.key == key {
			c.unlink(r)
			c.link(r)
			return e.value, true
		}
	}
	return value, false
}

// put adds or changes a value.
func (c *cache) put(key uint64, value [24]byte) error {
	if _, ok := c.get(key); ok {
		c.newest.Get().value = value
		return nil
	}
	if c.count == c.most {
		if err := c.evict(); err != nil {
			return err
		}
	}
	e, err := heap.Make[entry](c.heap)
	if err != nil {
		return err
	}
	r, bucket := heap.RefOf(e), c.bucket(key)
	e.key, e.value, e.next = key, value, *bucket
	*bucket = r
	c.link(r)
	c.count++
	return nil
}

// evict frees the entry that was used longest ago.
func (c *cache) evict() error {
	r := c.oldest
	at := c.bucket(r.Get().key)
	for *at != r {
		at = &at.Get().next
	}
	*at = r.Get().next
	c.unlink(r)
	c.count--
	return heap.FreeRef(c.heap, r)
}

// link makes an entry the newest.
func (c *cache) link(r heap.Ref[entry]) {
	e := r.Get()
	e.older, e.newer = c.newest, heap.Ref[entry]{}
	if c.newest.IsZero() {
		c.oldest = r
	} else {
		c.newest.Get().newer = r
	}
	c.newest = r
}

// unlink takes an entry out of the order.
func (c *cache) unlink(r heap.Ref[entry]) {
	e := r.Get()
	if e.newer.IsZero() {
		c.newest = e.older
	} else {
		e.newer.Get().older = e.older
	}
	if e.older.IsZero() {
		c.oldest = e.newer
	} else {
		e.older.Get().newer = e.newer
	}
}

// close frees everything.
func (c *cache) close() error {
	for c.count > 0 {
		if err := c.evict(); err != nil {
			return err
		}
	}
	return heap.FreeSlice(c.heap, c.buckets)
}
