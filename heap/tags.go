package heap

import (
	"sync/atomic"
	"unsafe"
)

// Tag is a purpose whose blocks are counted: it allocates from its heap, and keeps its own figures. What is allocated
// by a tag must be freed by the same one, or the figures are wrong; nothing else is.
type Tag struct {
	*Heap
	name   string
	shards [counterShards]tagCounters
}

const counterShards = 16

// tagCounters are the counts of goroutines that share a shard.
type tagCounters struct {
	blocks, bytes atomic.Int64 // alive; of one shard they can be negative
	mallocs       atomic.Int64
	_             [104]byte
}

// WithTags has New make tags, which Tag then finds by their names.
func WithTags(names ...string) Option {
	return func(o *options) { o.tags = append(o.tags, names...) }
}

// Tag is the tag of that name; it is made if there is none.
func (h *Heap) Tag(name string) *Tag {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tags {
		if t.name == name {
			return t
		}
	}
	t := &Tag{Heap: h, name: name}
	h.tags = append(h.tags, t)
	return t
}

// Name is the name of the tag.
func (t *Tag) Name() string { return t.name }

// count books a block that came or went.
func (t *Tag) count(p unsafe.Pointer, err error) (unsafe.Pointer, error) {
	if err == nil {
		s := &t.shards[shard()]
		s.blocks.Add(1)
		s.mallocs.Add(1)
		s.bytes.Add(int64(t.Heap.UsableSize(p)))
	}
	return p, err
}

// Alloc is Heap.Alloc.
func (t *Tag) Alloc(size int) (unsafe.Pointer, error) { return t.count(t.Heap.Alloc(size)) }

// AllocZeroed is Heap.AllocZeroed.
func (t *Tag) AllocZeroed(size int) (unsafe.Pointer, error) { return t.count(t.Heap.AllocZeroed(size)) }

// AllocAligned is Heap.AllocAligned.
func (t *Tag) AllocAligned(size, alignment int) (unsafe.Pointer, error) {
	return t.count(t.Heap.AllocAligned(size, alignment))
}

// Realloc is Heap.Realloc.
func (t *Tag) Realloc(p unsafe.Pointer, size int) (unsafe.Pointer, error) {
	if p == nil {
		return t.Alloc(size)
	}
	before := t.Heap.UsableSize(p)
	to, err := t.Heap.Realloc(p, size)
	if err == nil {
		t.shards[shard()].bytes.Add(int64(t.Heap.UsableSize(to) - before))
	}
	return to, err
}

// Free is Heap.Free.
func (t *Tag) Free(p unsafe.Pointer) error {
	if p == nil {
		return nil
	}
	bytes := t.Heap.UsableSize(p)
	err := t.Heap.Free(p)
	if err == nil {
		s := &t.shards[shard()]
		s.blocks.Add(-1)
		s.bytes.Add(-int64(bytes))
	}
	return err
}

// TagStats are the figures of a tag.
type TagStats struct {
	Name          string
	Blocks, Bytes int64 // alive
	Mallocs       int64 // since the start
}

// Stats adds the figures up.
func (t *Tag) Stats() TagStats {
	sum := TagStats{Name: t.name}
	for i := range t.shards {
		sum.Blocks += t.shards[i].blocks.Load()
		sum.Bytes += t.shards[i].bytes.Load()
		sum.Mallocs += t.shards[i].mallocs.Load()
	}
	return sum
}
