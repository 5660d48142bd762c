package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"granary/heap/heaptest"
)

// TestTheCacheKeepsWhatWasUsedLast compares it with a list of keys, newest last.
func TestTheCacheKeepsWhatWasUsedLast(t *testing.T) {
	const most = 50
	c, err := newCache(heaptest.New(t), most)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var keys []uint64
	values := map[uint64][24]byte{}
	for step := range 5000 {
		key := random.Uint64N(most * 2)
		at := -1
		for i, k := range keys {
			if k == key {
				at = i
			}
		}
		if random.IntN(2) == 0 {
			value, ok := c.get(key)
			if ok != (at >= 0) || ok && value != values[key] {
				t.Fatalf("step %d: get(%d) = %v, %v", step, key, value, ok)
			}
			if !ok {
				continue
			}
		} else {
			value := [24]byte{byte(step), byte(step >> 8)}
			if err := c.put(key, value); err != nil {
				t.Fatal(err)
			}
			values[key] = value
		}
		if at >= 0 {
			keys = append(keys[:at], keys[at+1:]...)
		} else if len(keys) == most {
			keys = keys[1:]
		}
		keys = append(keys, key)
		if c.count != len(keys) {
			t.Fatalf("step %d: %d entries, want %d", step, c.count, len(keys))
		}
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

func TestTheProgramReports(t *testing.T) {
	for _, goMap := range []bool{false, true} {
		var text strings.Builder
		if err := run(&text, 1000, goMap); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"filled with 1000 entries", "one garbage collection:", "resident memory:"} {
			if !strings.Contains(text.String(), part) {
				t.Errorf("%q is not in:\n%s", part, text.String())
			}
		}
	}
	if err := run(&strings.Builder{}, 0, false); err == nil {
		t.Error("a cache of no entries was made")
	}
}
