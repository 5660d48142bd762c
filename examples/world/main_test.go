package main

import (
	"fmt"
	"strings"
	"testing"

	"granary/object"
)

func TestWorldIsTheSameForTheSameSeedAndLeavesNothing(t *testing.T) {
	var first, second, other strings.Builder
	for _, c := range []struct {
		out  *strings.Builder
		seed uint64
	}{{&first, 1}, {&second, 1}, {&other, 2}} {
		if left := run(c.out, c.seed, 30); left != 0 {
			t.Errorf("seed %d: %d objects are left", c.seed, left)
		}
	}
	if first.String() != second.String() || first.String() == other.String() {
		t.Errorf("the summaries are\n%s\n%s\n%s", &first, &second, &other)
	}
	var cities, units, items, worth, bands int
	if _, err := fmt.Sscanf(first.String(), "%d cities, %d units, %d items worth %d, %d bands", &cities, &units, &items,
		&worth, &bands); err != nil || cities+units+items+bands < 9000 || units < 5000 || bands != bandsCount {
		t.Errorf("%v in\n%s", err, &first)
	}
	for _, leak := range object.Leaks() {
		t.Error(leak)
	}
}
