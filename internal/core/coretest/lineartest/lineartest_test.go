//go:build gc

package lineartest

import "testing"

func TestLinear(t *testing.T) {
	for _, test := range All() {
		t.Run(test.Name, func(t *testing.T) { test.Run(t) })
	}
}

// FuzzLinearOperations runs any bytes as calls of an allocator; see RunScript.
func FuzzLinearOperations(f *testing.F) {
	for seed := uint64(1); seed <= 6; seed++ {
		f.Add(RandomScript(seed, 40+60*int(seed)), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, diagnose bool) {
		if len(data) > 2000 {
			data = data[:2000]
		}
		RunScript(t, data, diagnose)
	})
}
