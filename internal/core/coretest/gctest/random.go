package gctest

// random is a xorshift generator: the same sequence on every machine and under both compilers.
type random uint64

func newRandom(seed uint64) *random {
	r := random(seed*0x9e3779b97f4a7c15 | 1)
	return &r
}

func (r *random) next() uint64 {
	x := uint64(*r)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = random(x)
	return x * 0x2545f4914f6cdd1d
}

// below is a number from 0 to n-1.
func (r *random) below(n uintptr) uintptr { return uintptr(r.next()>>33) % n }

// size is a request size: mostly small, as programs ask, and now and then anything up to limit.
func (r *random) size(limit uintptr) uintptr {
	size := r.below(16 << r.below(14))
	if size > limit {
		size %= limit + 1
	}
	return size
}
