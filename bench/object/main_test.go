package main

import "testing"

// TestPeersDoTheSame runs every workload once, small; measure itself compares what they count.
func TestPeersDoTheSame(t *testing.T) {
	for _, p := range peers {
		took := measure(p, 2000)
		for _, w := range workloads {
			if _, ok := took[w]; !ok {
				t.Errorf("%s: no figure for %s", p.name, w)
			}
		}
		s := p.make()
		s.fill(3000)
		s.replace(5000)
		if got := s.iterate(); got != 3000 {
			t.Errorf("%s: %d things are alive of 3000", p.name, got)
		}
		s.empty()
		if got := s.iterate(); got != 0 {
			t.Errorf("%s: %d things are left", p.name, got)
		}
		s.close()
	}
}
