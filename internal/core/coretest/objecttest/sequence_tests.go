package objecttest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/object"
	"granary/internal/core/sys"
)

// This file: random programs, compared with the model after each step.

var sequenceTests = []kit.Test{
	{Name: "random programs do what the model does", Run: testRandomPrograms},
}

func addr(n uintptr) sys.Addr { return sys.Addr(n) }

// RandomScript is a script of so many bytes.
func RandomScript(seed uint64, bytes int) []byte {
	r := kit.NewRandom(seed)
	script := make([]byte, bytes)
	for i := range script {
		script[i] = byte(r.Next() >> 40)
	}
	return script
}

// script reads bytes as choices; at its end all are 0.
type script struct {
	data []byte
	at   int
}

func (s *script) below(n int) int {
	if s.at >= len(s.data) {
		return 0
	}
	s.at++
	return int(s.data[s.at-1]) % n
}

func testRandomPrograms(t T) {
	for seed := uint64(1); seed <= 40; seed++ {
		every := 9 // looking at everything takes much longer than the operations
		if seed%4 == 0 {
			every = 1
		}
		runScript(t, RandomScript(seed, 900), 300, every)
	}
}

// player runs a script on a rig. known are places that references are kept to, some of them to objects long gone.
type player struct {
	*rig
	script
	known []*place
	depth int // of iterations
}

// RunScript runs at most so many operations, and looks at everything after each. Of the three types one has a single
// owner, and one does not use slots again soon.
func RunScript(t T, data []byte, most int) { runScript(t, data, most, 1) }

func runScript(t T, data []byte, most, every int) {
	p := &player{rig: newRig(t, 0, object.FlagSingleOwner, 0), script: script{data: data}}
	p.every = every
	p.lists[2].t.SetReuseDistance(4)
	for i := 0; i < most && p.at < len(data); i++ {
		p.operation()
	}
	p.close()
}

func (p *player) place() *place {
	if len(p.known) == 0 {
		return nil
	}
	return p.known[p.below(len(p.known))]
}

func (p *player) list() *list { return p.lists[p.below(len(p.lists))] }

func (p *player) make() {
	l := p.list()
	if l.alive < 24 {
		p.known = append(p.known, p.create(l))
	}
	if len(p.known) > 64 {
		p.known = p.known[1:]
	}
}

func (p *player) operation() {
	what := p.below(20)
	a, b := p.place(), p.place()
	if a == nil || b == nil || what < 5 {
		p.make()
		return
	}
	switch what {
	case 5, 6, 7:
		p.remove(a)
	case 8, 9:
		p.setField(a, p.below(varsCount), b)
	case 10:
		p.setField(a, p.below(varsCount), nil)
	case 11, 12:
		p.setOutside(p.below(outsideCount), a)
	case 13:
		p.setOutside(p.below(outsideCount), nil)
	case 14:
		p.move(a, b, p.below(2) == 0)
	case 15:
		p.takeHandle(a)
	case 16:
		if a.alive {
			p.setBlock(a)
			if b.alive && len(a.inside) == 0 {
				p.setArray(a, []*place{b, nil})
			}
		}
	case 17:
		p.iterate()
	case 18:
		if p.below(4) == 0 && p.depth == 0 {
			p.deleteAll(p.list())
		} else {
			p.make()
		}
	case 19:
		p.trim(p.list())
	}
}

// iterate visits a list, with any operations in the body, other iterations included.
func (p *player) iterate() {
	if p.depth == 2 {
		return
	}
	p.depth++
	l := p.list()
	visits := 0
	var at *place
	for ref := p.w.Step(l.t, 0); ref != 0; ref = p.w.Step(l.t, ref) {
		next := l.after(at)
		if next == nil || next.ref != ref {
			p.t.Fatalf("Each goes on with %#x, and the model with something else", uint64(ref))
		}
		next.held++
		p.modelRelease(at)
		at = next
		if visits++; visits > 30 {
			p.w.Release(ref)
			p.modelRelease(at)
			p.depth--
			p.step()
			return
		}
		for i := p.below(4); i > 0; i-- {
			p.operation()
		}
	}
	if next := l.after(at); next != nil {
		p.t.Fatalf("Each ended before object %d", next.number)
	}
	p.modelRelease(at)
	p.depth--
	p.step()
}

// after is the next place that is alive, the first one for nil.
func (l *list) after(at *place) *place {
	i := 0
	if at != nil {
		i = l.find(at) + 1
	}
	for ; i < len(l.places); i++ {
		if l.places[i].alive {
			return l.places[i]
		}
	}
	return nil
}
