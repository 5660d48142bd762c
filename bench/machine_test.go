package bench

import (
	"regexp"
	"testing"
)

func TestTheMachineLineNamesCoresMemoryAndKernel(t *testing.T) {
	line := MachineLine()
	want := regexp.MustCompile(`^.+, [1-9]\d* cores; [1-9]\d* GiB; Linux \d+\.\d+[.\d]* \w+;`)
	if !want.MatchString(line) {
		t.Errorf("the line is %q", line)
	}
}
