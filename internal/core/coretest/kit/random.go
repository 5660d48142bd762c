package kit

// Random is a xorshift generator: the same sequence on every machine and under both compilers.
type Random uint64

// NewRandom is a generator for a seed; different seeds give different sequences.
func NewRandom(seed uint64) *Random {
	r := Random(seed*0x9e3779b97f4a7c15 | 1)
	return &r
}

// Next is the next number.
func (r *Random) Next() uint64 {
	x := uint64(*r)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = Random(x)
	return x * 0x2545f4914f6cdd1d
}

// Below is a number from 0 to n-1.
func (r *Random) Below(n uintptr) uintptr { return uintptr(r.Next()>>33) % n }

// Size is a request size: mostly small, as programs ask, and now and then anything up to limit. doublings says how far
// the middle ones go: up to 16 << doublings.
func (r *Random) Size(limit, doublings uintptr) uintptr {
	shift := r.Below(doublings)
	size := r.Below(16 << shift)
	if size > limit {
		size %= limit + 1
	}
	return size
}
