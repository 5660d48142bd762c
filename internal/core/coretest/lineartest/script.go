package lineartest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/linear"
)

var scriptTests = []Test{
	{Name: "random scripts with a look at everything after each step", Run: testScripts},
	{Name: "random scripts while diagnosing", Run: testDiagnosedScripts},
}

func testScripts(t T) {
	for seed := uint64(1); seed <= 12; seed++ {
		RunScript(t, RandomScript(seed, 1500), false)
	}
}

func testDiagnosedScripts(t T) {
	for seed := uint64(101); seed <= 104; seed++ {
		RunScript(t, RandomScript(seed, 300), true)
	}
}

// RandomScript is a script of so many bytes.
func RandomScript(seed uint64, length int) []byte {
	r := kit.NewRandom(seed)
	script := make([]byte, length)
	for i := range script {
		script[i] = byte(r.Next() >> 56)
	}
	return script
}

// script reads bytes; behind the end come zeros.
type script struct{ rest []byte }

func (s *script) next() uintptr {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return uintptr(b)
}

const scriptWorkers = 3

// RunScript runs any bytes as calls of an allocator by several workers. The first bytes choose the allocator. The
// walkers look after each step.
func RunScript(t T, data []byte, diagnose bool) {
	s := &script{data}
	config := linear.Config{
		BlockBytes: 64 * kib << (s.next() % 3),
		Blocks:     1 + uint32(s.next()%8),
		Growth:     1 + uint32(s.next()%8),
		MaxAge:     uint32(s.next() % 20),
		Diagnose:   diagnose,
	}
	r := newRig(t, config, scriptWorkers)
	exact := config.MaxAge <= 14
	for len(s.rest) > 0 {
		r.step(s)
		r.check(exact)
	}
	r.close()
}

func (r *rig) step(s *script) {
	op := s.next()
	worker := int(s.next() % scriptWorkers)
	switch {
	case op < 110:
		size := s.next() * 4
		if op%4 == 0 {
			size = s.next() << (s.next() % 13)
		}
		align := uintptr(1)
		if op%8 == 0 {
			align <<= s.next() % 17
		}
		r.alloc(worker, size, align, uint32(op))
	case op < 200:
		if len(r.live) > 0 {
			index := int(s.next()<<8|s.next()) % len(r.live)
			if op%2 == 0 {
				index = len(r.live) - 1
			}
			r.free(worker-int(op%3)/2, index)
		}
	case op < 225:
		r.nextFrame()
	case op < 235:
		for i := 0; i < int(s.next()); i++ {
			r.alloc(worker, 16<<(s.next()%10), 16, 0)
		}
	case op < 245:
		for count := len(r.live) / 2; count > 0; count-- {
			r.free(worker, int(s.next())%len(r.live))
		}
	case op < 250:
		r.a.Retire(r.workers[worker])
	case op < 254:
		r.a.DropWorker(r.workers[worker])
		r.workers[worker] = r.a.AddWorker()
	default:
		r.a.Reset()
		r.live = nil
		for c := (linear.Cursor{}); r.a.TakeOverflow(&c) != 0; {
			if r.isOld(&made{frame: c.Frame}) {
				r.late++
			}
		}
	}
}
