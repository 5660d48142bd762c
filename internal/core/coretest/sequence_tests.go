package coretest

var sequenceTests = []Test{
	{Name: "random scripts with a look at everything after each step", Run: testShortScripts},
	{Name: "random scripts with a look now and then", Run: testLongScripts},
	{Name: "a long run of small blocks by three threads", Run: testLongSmall},
	{Name: "a long run at the edge of a full range", Run: testLongFull},
	{Name: "phases of growing, shrinking and waiting", Run: testPhases},
}

// RandomScript is a script of that many bytes; the same for a seed on every machine.
func RandomScript(seed uint64, length int) []byte {
	random := newRandom(seed)
	data := make([]byte, length)
	for i := range data {
		data[i] = byte(random.Next() >> 24)
	}
	return data
}

func testShortScripts(t T) {
	for seed := uint64(1); seed <= 12; seed++ {
		RunHeapScript(t, RandomScript(seed, 250), 2000, 1)
	}
}

func testLongScripts(t T) {
	for seed := uint64(100); seed < 106; seed++ {
		RunHeapScript(t, RandomScript(seed, 4000), 20000, 50)
	}
}

// mix says how often a long run does what, in parts of a hundred; the rest is waiting.
type mix struct {
	malloc, calloc, realloc, aligned, free, threads uintptr
	sizeLimit                                       uintptr
}

func (r *rig) run(random *random, steps int, m mix) {
	for i := 0; i < steps; i++ {
		cache := int(random.Below(uintptr(len(r.caches)) + 1))
		pick := random.Below(100)
		any := func() *block { return r.live[random.Below(uintptr(len(r.live)))] }
		switch {
		case pick < m.malloc || len(r.live) == 0:
			r.malloc(cache, random.size(m.sizeLimit))
		case pick < m.malloc+m.calloc:
			r.calloc(cache, random.Below(4), random.size(m.sizeLimit/4))
		case pick < m.malloc+m.calloc+m.realloc:
			r.realloc(cache, any(), random.size(m.sizeLimit)+1)
		case pick < m.malloc+m.calloc+m.realloc+m.aligned:
			r.aligned(cache, 1<<random.Below(13), random.size(m.sizeLimit/2))
		case pick < m.malloc+m.calloc+m.realloc+m.aligned+m.free:
			r.free(cache, any())
		case pick < m.malloc+m.calloc+m.realloc+m.aligned+m.free+m.threads:
			r.scriptThreads(random.Below(2), cache)
		default:
			r.idle(cache, uint64(random.Below(second/2)), uint64(random.Below(3))*second/2)
		}
	}
}

func testLongSmall(t T) {
	r := newRig(t, 3)
	r.every = 499
	random := newRandom(77)
	r.run(random, 12000, mix{malloc: 36, calloc: 8, realloc: 8, aligned: 3, free: 44, sizeLimit: 600})
	r.close()
}

func testLongFull(t T) {
	r := newRig(t, 3)
	r.every = 499
	random := newRandom(78)
	r.fillRange(0, 32768)
	r.fillRange(0, 2048)
	r.run(random, 3000, mix{malloc: 30, calloc: 8, realloc: 6, aligned: 4, free: 49, threads: 2, sizeLimit: 32768})
	r.close()
}

func testPhases(t T) {
	r := newRig(t, 2)
	r.every = 499
	random := newRandom(79)
	grow := mix{malloc: 60, calloc: 12, realloc: 5, aligned: 3, free: 18, threads: 1, sizeLimit: 9000}
	shrink := mix{malloc: 6, calloc: 2, realloc: 5, aligned: 1, free: 80, threads: 3, sizeLimit: 9000}
	for round := 0; round < 5; round++ {
		r.run(random, 900, grow)
		r.run(random, 900, shrink)
		r.idle(0, second/2, second)
		r.idle(0, second, second)
	}
	r.close()
}
