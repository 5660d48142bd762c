//go:build unix

package measure

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRowsAreWhatRunsTook(t *testing.T) {
	var order []string
	turn := time.Duration(0)
	of := func(workload, peer string) Case {
		return Case{workload, peer, func() (Sample, error) {
			order = append(order, peer)
			turn++
			return Sample{10, turn * 10, turn * 100}, nil
		}}
	}
	rows, err := Take(3, []Case{of("w", "a"), of("w", "b")})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "abababab" {
		t.Errorf("cases ran in the order %s", got)
	}
	// the first round, 1 and 2, does not count
	if got := Median(rows, "w", "a", CPUColumn); got != 5 {
		t.Errorf("the median of 3, 5, 7 is %v", got)
	}
	if got := Median(rows, "w", "b", WallColumn); got != 60 {
		t.Errorf("the median of 40, 60, 80 is %v", got)
	}
	var table strings.Builder
	WriteTable(&table, rows, CPUColumn)
	if want := "| | a | b |\n|---|---|---|\n| w | 5.0 | 6.0 |\n"; table.String() != want {
		t.Errorf("the table is\n%swant\n%s", &table, want)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := SaveCSV(path, rows); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "workload,peer,round,cpu_ns,wall_ns\nw,a,1,3.00,30.00\n") {
		t.Errorf("the file is\n%s%v", text, err)
	}
}

func TestAFailedRunEndsTheMeasurement(t *testing.T) {
	broken := errors.New("broken")
	_, err := Take(3, []Case{{"w", "a", func() (Sample, error) { return Sample{}, broken }}})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "w, a") {
		t.Error(err)
	}
	s, err := Timed(7, func() error { return broken })
	if !errors.Is(err, broken) || s.Steps != 7 || s.CPU < 0 || s.Wall <= 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
