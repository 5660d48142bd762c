package lineartest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/linear"
	"granary/internal/core/sys"
)

var stackTests = []Test{
	{Name: "a stack gives back what came after a mark", Run: testStackMarks},
	{Name: "a stack grows to twice its first size", Run: testStackGrows},
	{Name: "a stack counts every frame once", Run: testStackFrames},
	{Name: "a rewind finds the linked blocks that came after the mark", Run: testStackLinks},
	{Name: "marks that are none are refused", Run: testStackBadMarks},
	{Name: "stacks of impossible sizes are refused", Run: testStackSizes},
}

func newStack(r *rig, bytes uintptr) *linear.Stack {
	s := linear.NewStack(r.a, bytes)
	if s == nil {
		r.Fatalf("no stack")
	}
	return s
}

func (r *rig) checkStack(s *linear.Stack) linear.StackStats {
	if what := s.Check(); what != "" {
		r.Fatalf("%s", what)
	}
	var stats linear.StackStats
	s.Read(&stats)
	return stats
}

func testStackMarks(t T) {
	r := newRig(t, small(2), 0)
	s := newStack(r, 64*kib)
	random := kit.NewRandom(3)
	var marks []linear.Mark
	var tops []sys.Addr
	for i := 0; i < 5000; i++ {
		if random.Below(2) == 0 && len(marks) > 0 {
			last := len(marks) - 1
			if !s.Valid(marks[last]) || s.PopAbove(marks[last]) != 0 {
				t.Fatalf("a mark is not valid, or has links")
			}
			s.Rewind(marks[last])
			if p := s.PushAligned(16, 16); tops[last] != 0 && p != tops[last] {
				t.Fatalf("after a rewind the next allocation lies at %#x, not %#x", p, tops[last])
			}
			s.Rewind(marks[last])
			marks, tops = marks[:last], tops[:last]
			continue
		}
		marks = append(marks, s.Mark())
		p := s.PushAligned(linear.Need(1+random.Below(100)), 16)
		tops = append(tops, p)
		if align := uintptr(16) << random.Below(9); p != 0 {
			if q := s.PushAligned(16, align); uintptr(q)&(align-1) != 0 {
				t.Fatalf("%#x is not at a multiple of %d", q, align)
			}
		}
		r.checkStack(s)
	}
	s.Destroy()
	r.close()
}

func testStackGrows(t T) {
	r := newRig(t, small(2), 0)
	s := newStack(r, 10*kib) // 12 KiB
	mark := s.Mark()
	for i := 0; i < 24; i++ {
		if !s.Holds(kib) || s.Push(kib) == 0 {
			t.Fatalf("a stack of 12 KiB holds %d KiB", i)
		}
		want := uint64(12 * kib)
		if i >= 12 {
			want = uint64((i + 1 + 3) / 4 * 4 * kib)
		}
		if stats := r.checkStack(s); stats.Current != want || stats.Initial != 12*kib || stats.Peak != uint64(i+1)*kib {
			t.Fatalf("with %d KiB the stack says that it is %d of %d, peak %d", i+1, stats.Current, stats.Initial, stats.Peak)
		}
	}
	for _, need := range []uintptr{16, 1 << 20, ^uintptr(0) &^ 15, 0} {
		if s.PushAligned(need, 16) != 0 || s.Holds(need) {
			t.Fatalf("a full stack holds %#x more", need)
		}
	}
	s.Rewind(mark)
	if stats := r.checkStack(s); stats.Current != 24*kib || stats.Used != 0 {
		t.Fatalf("the stack did not keep its size")
	}
	s.Destroy()
	r.close()
}

func testStackFrames(t T) {
	r := newRig(t, small(2), 0)
	r.nextFrame()
	r.nextFrame()
	s := newStack(r, 64*kib)
	for frame := 0; frame < 10; frame++ {
		mark := s.Mark()
		s.PushAligned(uintptr(frame)*4*kib+16, 16)
		s.Rewind(mark)
		s.PushAligned(16, 16)
		if frame != 7 {
			s.Rewind(mark)
		}
		r.nextFrame()
		stats := r.checkStack(s)
		total := uint64(0)
		for _, n := range stats.Frames {
			total += n
		}
		if total != uint64(frame)+3 {
			t.Fatalf("%d frames are counted of %d", total, frame+3)
		}
	}
	r.nextFrame()
	stats := r.checkStack(s)
	want := map[int]uint64{0: 4, 3: 1, 4: 2, 5: 4, 6: 2} // below 1, 4 to 8, 8 to 16, 16 to 32, 32 to 64 KiB
	want[0] = 13 - want[3] - want[4] - want[5] - want[6]
	for i, n := range stats.Frames {
		if n != want[i] {
			t.Fatalf("bin %d counts %d frames, not %d", i, n, want[i])
		}
	}
	if stats.Held != 1+2+1 { // one frame of its own, and those after it, in which nobody rewound so far
		t.Fatalf("%d frames held something", stats.Held)
	}
	s.Destroy()
	r.close()
}

func testStackLinks(t T) {
	r := newRig(t, small(2), 0)
	s := newStack(r, 4*kib)
	var marks []linear.Mark
	var blocks []sys.Addr
	for i := 0; i < 10; i++ {
		marks = append(marks, s.Mark())
		p := r.heapAlloc(100, 16)
		s.Link(p)
		blocks = append(blocks, p)
	}
	for i := 9; i >= 5; i-- {
		if p := s.PopAbove(marks[5]); p != blocks[i] {
			t.Fatalf("the rewind finds %#x, not %#x", p, blocks[i])
		}
	}
	if s.PopAbove(marks[5]) != 0 {
		t.Fatalf("the rewind finds a block that came before the mark")
	}
	s.Rewind(marks[5])
	for i := 4; i >= 0; i-- {
		if p := s.PopAbove(marks[0]); p != blocks[i] {
			t.Fatalf("the rewind finds %#x, not %#x", p, blocks[i])
		}
	}
	if stats := r.checkStack(s); stats.Overflows != 10 {
		t.Fatalf("%d overflows are counted", stats.Overflows)
	}
	s.Destroy()
	r.close()
}

func testStackBadMarks(t T) {
	r := newRig(t, small(2), 0)
	s := newStack(r, 4*kib)
	first := s.Mark()
	s.PushAligned(64, 16)
	second := s.Mark()
	s.Rewind(first)
	for _, m := range []linear.Mark{second, {}, {Position: first.Position - 16}, {Position: first.Position, Serial: 1},
		{Position: first.Position + 8}, {Position: ^uintptr(0)}} {
		if s.Valid(m) {
			t.Fatalf("%+v is a mark", m)
		}
	}
	if !s.Valid(first) {
		t.Fatalf("the first mark is none")
	}
	s.Destroy()
	r.close()
}

func testStackSizes(t T) {
	r := newRig(t, small(2), 0)
	for _, bytes := range []uintptr{1<<30 + 1, ^uintptr(0), 1 << 30} { // the last one: twice it is more than the space
		if linear.NewStack(r.a, bytes) != nil {
			t.Fatalf("a stack of %d bytes", bytes)
		}
	}
	r.check(true)
	r.close()
}
