// This file runs xz with two threads.

package programs

import (
	"bytes"
	"testing"
	"time"
)

// compressibleData is text-like data that xz has to work for: words chosen by a small generator,
// with runs of bytes that cannot be compressed between them.
func compressibleData(size int) []byte {
	out := make([]byte, 0, size+64)
	state := uint32(2463534242)
	next := func() uint32 { // xorshift: the same numbers everywhere
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return state
	}
	for len(out) < size {
		r := next()
		if r%29 == 0 {
			for range 16 {
				out = append(out, byte(next()))
			}
			continue
		}
		for range 2 + r%7 {
			out = append(out, "etaoinshrdlu"[(r>>8)%12])
			r = r*1103515245 + 12345
		}
		out = append(out, " \n"[r>>31])
	}
	return out[:size]
}

func TestXzCompressesAndExpandsWithTwoThreads(t *testing.T) {
	xz := need(t, "xz", "xz-utils")
	size, level := 4<<20, "-1"
	if fullSize {
		size, level = 48<<20, "-6"
	}
	data := compressibleData(size)
	compare(t, func(s *session) {
		s.write("data", data)
		s.run(command{args: []string{xz, "-k", "-T2", level, "--block-size=1MiB", "data"},
			limit: 5 * time.Minute})
		s.recordFile("data.xz")
		s.run(command{args: []string{xz, "-t", "-T2", "data.xz"}})
		back := s.run(command{args: []string{xz, "-dc", "-T2", "data.xz"}})
		if !bytes.Equal(back.stdout, data) {
			s.fatalf("what xz expanded is not what it had compressed")
		}
	})
}
