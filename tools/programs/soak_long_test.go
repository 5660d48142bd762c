//go:build programs

// This file runs guile on Granary's libgc.so.1 for a long time. Its threads stay the same ones: guile 3.0.8 crashes
// now and then when many begin and end, on Debian's libgc as well.

package programs

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

var soakTime = flag.Duration("soak", 10*time.Minute, "how long TestGuileStaysSmall runs guile")

var residentSize = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

func resident(s *session, pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		s.fatalf("%v", err)
	}
	match := residentSize.FindSubmatch(status)
	if match == nil {
		return 0 // it has ended
	}
	kib, _ := strconv.Atoi(string(match[1]))
	return kib
}

func middle(values []int) int { return slices.Sorted(slices.Values(values))[len(values)/2] }

func TestGuileStaysSmall(t *testing.T) {
	guile := need(t, "guile", "guile-3.0")
	library := libraryCopy(t)
	pass(t, tempDir(t), "collector", "", filepath.Join(filepath.Dir(library), "gc"), func(s *session) {
		s.copyTestdata("collected/soak.scm")
		v := s.start(command{args: []string{guile, "--no-auto-compile", "collected/soak.scm",
			fmt.Sprint(int(soakTime.Seconds()))}})
		const count = 400
		var sizes []int
		tick := time.NewTicker(*soakTime / count)
		defer tick.Stop()
		late := time.After(*soakTime + time.Minute)
		for ended := false; !ended; {
			select {
			case <-late:
				s.fatalf("it does not end; its resident sizes in KiB: %v\n%s", sizes, tail(v.errors.bytes()))
			case <-tick.C:
				if kib := resident(s, v.pid()); kib > 0 {
					sizes = append(sizes, kib)
				}
			case <-v.done:
				ended = true
			}
		}
		if output := v.out.bytes(); v.err != nil || !bytes.Equal(output, []byte("done\n")) || len(sizes) < count/2 {
			s.fatalf("it ended with %v\n%s%s", v.err, tail(output), tail(v.errors.bytes()))
		}
		second, last := middle(sizes[len(sizes)/4:len(sizes)/2]), middle(sizes[len(sizes)*3/4:])
		t.Logf("median resident size in KiB: second quarter %d, last quarter %d", second, last)
		if last*10 > second*11 {
			s.fatalf("it grew from %d KiB (second quarter) to %d KiB (last quarter)", second, last)
		}
		s.record("its output", v.out.bytes())
	})
}
