package coretest

import "granary/internal/core/coretest/kit"

// random is the generator of this package's tests, with request sizes as they suit the heap.
type random struct{ kit.Random }

func newRandom(seed uint64) *random { return &random{*kit.NewRandom(seed)} }

func (r *random) size(limit uintptr) uintptr { return r.Size(limit, 16) }
