package coretest

import (
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// recordBytes is the size of a granule's record in the spaces of these tests.
const recordBytes = 64

// run is a run that the test holds.
type run struct {
	ref      space.Ref
	granules uint32
	owner    uint16
	seed     uintptr
}

// spaceRig is a space and the model of what was taken of it.
type spaceRig struct {
	t      T
	s      *space.Space
	memory sys.Addr
	runs   []*run
	taken  [leastRange / space.GranuleBytes]bool // granules of the model's runs and of tables
	meta   int                                   // pieces of tables
	used   uintptr                               // granules taken
	steps  int
	seeds  uintptr
	now    uint64
}

func newSpaceRig(t T) *spaceRig {
	bytes := sys.AlignUp(unsafe.Sizeof(space.Space{}), sys.PageBytes())
	r := &spaceRig{t: t, memory: memoryFor(t, bytes), now: 10 * second}
	r.s = (*space.Space)(r.memory.Pointer())
	if !r.s.Init(leastRange, recordBytes) {
		t.Fatalf("Init of the smallest range failed")
	}
	return r
}

func (r *spaceRig) close() {
	r.check()
	r.s.Destroy()
	if r.s.Owns(r.memory) || r.s.Committed() != 0 {
		r.t.Errorf("a destroyed space owns addresses")
	}
	sys.Release(r.memory, sys.AlignUp(unsafe.Sizeof(space.Space{}), sys.PageBytes()))
}

func (r *spaceRig) check() {
	if wrong := r.s.Check(); wrong != "" {
		r.t.Fatalf("after %d steps: %s", r.steps, wrong)
	}
	stats := r.s.Stats()
	if stats.Used != r.used<<space.GranuleShift {
		r.t.Fatalf("after %d steps: %d granules are taken, the figures say %d bytes", r.steps, r.used, stats.Used)
	}
	if stats.Held != stats.Used+stats.Dirty || stats.HeldPeak < stats.Held || stats.Range != leastRange {
		r.t.Fatalf("after %d steps: figures do not add up: %+v", r.steps, stats)
	}
	if stats.Held > r.s.Frontier()<<space.GranuleShift || r.s.Frontier() > r.s.Committed() {
		r.t.Fatalf("after %d steps: %d bytes held, but only %d granules were ever used", r.steps, stats.Held,
			r.s.Frontier())
	}
}

// hasRoom reports whether a run of so many granules fits below the frontier or above it.
func (r *spaceRig) hasRoom(granules uint32) bool {
	frontier := r.s.Frontier()
	if uintptr(len(r.taken))-frontier >= uintptr(granules) {
		return true
	}
	room := uint32(0)
	for _, taken := range r.taken[space.First:frontier] {
		room++
		if taken {
			room = 0
		}
		if room >= granules {
			return true
		}
	}
	return false
}

// eachWord calls f with the places of a run's pattern: two words a page.
func (r *spaceRig) eachWord(m *run, f func(addr sys.Addr, offset uintptr)) {
	addr := r.s.Addr(m.ref)
	for offset := uintptr(0); offset < uintptr(m.granules)*space.GranuleBytes; offset += 2048 {
		f(addr+sys.Addr(offset+offset/256%2048), offset)
	}
}

// take takes a run that starts at a multiple of align, or nil if there is none.
func (r *spaceRig) take(granules, align uint32) *run {
	room := r.hasRoom(granules)
	ref := r.s.Take(granules, align)
	r.steps++
	if ref == 0 {
		if room && align == 1 && granules < 32 {
			r.t.Fatalf("after %d steps: Take(%d) found nothing, but so many granules are free", r.steps, granules)
		}
		r.check()
		return nil
	}
	head := r.s.Run(ref)
	if head.Granules != granules || r.s.Granules(ref) != uintptr(granules) ||
		r.s.Bytes(ref) != uintptr(granules)*space.GranuleBytes {
		r.t.Fatalf("after %d steps: Take(%d) gave a run of %d granules", r.steps, granules, head.Granules)
	}
	if uint32(ref)%align != 0 || ref < space.First || int(ref)+int(granules) > len(r.taken) {
		r.t.Fatalf("after %d steps: Take(%d, %d) gave granule %d", r.steps, granules, align, ref)
	}
	r.seeds++
	m := &run{ref: ref, granules: granules, seed: scatter(r.seeds), owner: uint16(r.seeds%65535 + 1)}
	r.mark(m, 0, granules, true)
	if owner := r.s.OwnerOf(r.s.Addr(ref)); owner != 0 {
		r.t.Fatalf("after %d steps: Take(%d) gave a run with owner %d", r.steps, granules, owner)
	}
	if head.Zero {
		r.mustBeZero(ref, uintptr(granules)*space.GranuleBytes)
	}
	r.own(m)
	r.runs = append(r.runs, m)
	r.check()
	return m
}

// mark notes that granules of a run are taken or not.
func (r *spaceRig) mark(m *run, from, to uint32, taken bool) {
	for g := uint32(m.ref) + from; g < uint32(m.ref)+to; g++ {
		if r.taken[g] == taken {
			r.t.Fatalf("after %d steps: granule %d was given to two", r.steps, g)
		}
		r.taken[g] = taken
		if taken {
			r.used++
		} else {
			r.used--
		}
	}
}

// mustBeZero looks where the patterns of runs may have been (see eachWord), and at every byte of the first page and
// around the end.
func (r *spaceRig) mustBeZero(ref space.Ref, bytes uintptr) {
	pattern := &run{ref: ref, granules: uint32(bytes / space.GranuleBytes)}
	wrong := -1
	r.eachWord(pattern, func(addr sys.Addr, offset uintptr) {
		if addr.Word() != 0 {
			wrong = int(addr - r.s.Addr(ref))
		}
	})
	from := uintptr(0)
	if bytes > space.GranuleBytes {
		if at := firstNotZero(r.s.Addr(ref), 4096); at >= 0 {
			wrong = at
		}
		from = bytes&^15 - space.GranuleBytes
	}
	if at := firstNotZero(r.s.Addr(ref)+sys.Addr(from), bytes-from); at >= 0 {
		wrong = at + int(from)
	}
	if wrong >= 0 {
		r.t.Fatalf("after %d steps: the run at granule %d should read as zero and does not at %d", r.steps, ref, wrong)
	}
}

// mustRecommit makes memory readable that went back to the system.
func mustRecommit(t T, addr sys.Addr, bytes uintptr) {
	if sys.MustRecommit && !sys.Commit(addr, bytes) {
		t.Fatalf("the system does not give the memory at %#x again", uintptr(addr))
	}
}

// own sets the run's owner and writes its pattern.
func (r *spaceRig) own(m *run) {
	r.s.SetOwner(m.ref, m.owner)
	r.eachWord(m, func(addr sys.Addr, offset uintptr) { addr.SetWord(m.seed + offset) })
}

// mustHold fails if somebody wrote into the run or took it over.
func (r *spaceRig) mustHold(m *run) {
	r.eachWord(m, func(addr sys.Addr, offset uintptr) {
		if addr.Word() != m.seed+offset {
			r.t.Fatalf("after %d steps: granule %d was changed at offset %d", r.steps, m.ref, offset)
		}
		if r.s.OwnerOf(addr) != m.owner {
			r.t.Fatalf("after %d steps: granule %d lost its owner at offset %d", r.steps, m.ref, offset)
		}
	})
}

// mustTake takes a run where one must be left.
func (r *spaceRig) mustTake(granules, align uint32) *run {
	m := r.take(granules, align)
	if m == nil {
		r.t.Fatalf("after %d steps: Take(%d, %d) found nothing", r.steps, granules, align)
	}
	return m
}

// give gives back the run with that number, and drops its memory at once if now is set.
func (r *spaceRig) give(index int, now bool) {
	m := r.runs[index]
	r.mustHold(m)
	r.runs[index] = r.runs[len(r.runs)-1]
	r.runs = r.runs[:len(r.runs)-1]
	r.mark(m, 0, m.granules, false)
	r.s.SetOwner(m.ref, 0)
	done := false
	if now {
		done = r.s.GiveNow(m.ref)
	} else {
		done = r.s.Give(m.ref)
	}
	if !done {
		r.t.Fatalf("after %d steps: Give failed", r.steps)
	}
	if now {
		mustRecommit(r.t, r.s.Addr(m.ref), uintptr(m.granules)*space.GranuleBytes)
		r.mustBeZero(m.ref, uintptr(m.granules)*space.GranuleBytes)
	}
	r.steps++
	r.check()
}

// extend makes a run larger; it returns false if what lies behind is not free.
func (r *spaceRig) extend(m *run, more uint32) bool {
	r.mustHold(m)
	free := true
	for g := uintptr(m.ref) + uintptr(m.granules); g < uintptr(m.ref)+uintptr(m.granules+more); g++ {
		free = free && g < r.s.Frontier() && !r.taken[g]
	}
	done := r.s.Extend(m.ref, more)
	r.steps++
	if done != free {
		r.t.Fatalf("after %d steps: Extend by %d says %v, but the granules are free: %v", r.steps, more, done, free)
	}
	if done {
		r.mark(m, m.granules, m.granules+more, true)
		m.granules += more
		r.own(m)
	}
	r.check()
	return done
}

// shrink makes a run smaller.
func (r *spaceRig) shrink(m *run, granules uint32) {
	r.mustHold(m)
	if granules < m.granules {
		for g := uint32(m.ref) + granules; g < uint32(m.ref)+m.granules; g++ {
			r.s.OwnerWord(uintptr(g)).SetWord16(0)
		}
		r.mark(m, granules, m.granules, false)
		m.granules = granules
	}
	r.s.Shrink(m.ref, granules)
	r.steps++
	r.mustHold(m)
	r.check()
}

// takeZero takes a run and has it cleared as far as needed.
func (r *spaceRig) takeZero(granules uint32, bytes uintptr) {
	ref := r.s.Take(granules, 1)
	r.steps++
	if ref == 0 {
		return
	}
	r.s.ClearDirty(ref, bytes)
	r.mustBeZero(ref, bytes)
	r.seeds++
	m := &run{ref: ref, granules: granules, seed: scatter(r.seeds), owner: uint16(r.seeds%65535 + 1)}
	r.mark(m, 0, granules, true)
	r.own(m)
	r.runs = append(r.runs, m)
	r.check()
}

// giveRun gives back that run.
func (r *spaceRig) giveRun(m *run) {
	for i := range r.runs {
		if r.runs[i] == m {
			r.give(i, false)
			return
		}
	}
	r.t.Fatalf("the test does not hold granule %d", m.ref)
}

func (r *spaceRig) giveAll() {
	for len(r.runs) > 0 {
		r.give(len(r.runs)-1, false)
	}
}

// takeMeta takes memory for tables; it is never given back. It returns 0 if there is none.
func (r *spaceRig) takeMeta(bytes uintptr) sys.Addr {
	before := r.s.Stats().Used
	addr := r.s.TakeMeta(bytes)
	r.steps++
	if addr == 0 {
		r.check()
		return 0
	}
	if addr&63 != 0 || !r.s.Owns(addr) || !r.s.Owns(addr+sys.Addr(bytes)-1) {
		r.t.Fatalf("after %d steps: TakeMeta(%d) = %#x", r.steps, bytes, uintptr(addr))
	}
	if at := firstNotZero(addr, bytes); at >= 0 {
		r.t.Fatalf("after %d steps: TakeMeta(%d) is not zero at %d", r.steps, bytes, at)
	}
	if r.s.Stats().Used != before {
		// A new piece of the range for tables: this is its beginning.
		granules := uint32((r.s.Stats().Used - before) >> space.GranuleShift)
		r.mark(&run{ref: space.Ref(r.s.Granule(addr))}, 0, granules, true)
	}
	for _, m := range r.runs {
		if g := r.s.Granule(addr); g >= uintptr(m.ref) && g < uintptr(m.ref)+uintptr(m.granules) {
			r.t.Fatalf("after %d steps: TakeMeta(%d) = %#x lies in a run", r.steps, bytes, uintptr(addr))
		}
	}
	for offset := uintptr(0); offset < bytes; offset += 8 {
		(addr + sys.Addr(offset)).SetWord(^uintptr(0)) // what is handed out twice is not zero the second time
	}
	r.meta++
	r.check()
	return addr
}

// release lets time go by and runs a release sweep.
func (r *spaceRig) release(passed, age uint64) space.Released {
	r.now += passed
	before := r.s.DirtyBytes()
	done := r.s.ReleaseIdle(r.now, age)
	r.steps++
	r.check()
	if done.Bytes > uint64(before) || done.Runs > 0 && done.Longest < age || age == 0 && r.s.DirtyBytes() != 0 {
		r.t.Fatalf("after %d steps: of %d bytes dirty, %+v was released, %d left", r.steps, before, done,
			r.s.DirtyBytes())
	}
	return done
}
