package report

import (
	"fmt"
	"strings"
	"testing"
)

// mimalloc_test.go: the tables of several versions of mimalloc.

const mimallocSample = `heap stats:     peak       total     current       block      total#
  reserved:     1.0 GiB     1.5 GiB     1.0 GiB
 committed:    66.3 MiB    70.3 MiB    -1.3 MiB
     reset:     0
   touched:     0           0           0                                ok
     pages:     4.2 K       161          3                               not all freed
-abandoned:    52          72          52                                not all freed
     mmaps:    19 commits: 371 threads: 45 45 2 not all freed searches: 1.0 avg elapsed: 1.151 s
   process: user: 0.000 s, system: 0.250 s, faults: 7, rss: 66.3 MiB, commit: 65.0 MiB
done: 5 things
`

// rows lists a table, a row a line.
func (m *Mimalloc) list() string {
	var b strings.Builder
	for _, row := range m.Rows {
		fmt.Fprintf(&b, "%d %s:", row.Line, row.Name)
		for _, value := range row.Values {
			fmt.Fprintf(&b, " %s=%s", value.Column, value.Text)
		}
		fmt.Fprintf(&b, " (%s)\n", row.Note)
	}
	return b.String()
}

func TestTheTableOfMimallocIsReadBehindAnyDecoration(t *testing.T) {
	const want = `2 reserved: peak=1.0 GiB total=1.5 GiB current=1.0 GiB ()
3 committed: peak=66.3 MiB total=70.3 MiB current=-1.3 MiB ()
4 reset: peak=0 ()
5 touched: peak=0 total=0 current=0 (ok)
6 pages: peak=4.2 K total=161 current=3 (not all freed)
7 -abandoned: peak=52 total=72 current=52 (not all freed)
8 mmaps: peak=19 ()
8 commits: peak=371 ()
8 threads: peak=45 total=45 current=2 (not all freed)
8 searches: peak=1.0 avg ()
8 elapsed: peak=1.151 s ()
9 process: user=0.000 s system=0.250 s faults=7 rss=66.3 MiB commit=65.0 MiB ` +
		`(user: 0.000 s, system: 0.250 s, faults: 7, rss: 66.3 MiB, commit: 65.0 MiB)
`
	for _, name := range []string{"CRLF", "GitHub", "docker compose", "logcat threadtime", "journald"} {
		log := readText(t, decorate(mimallocSample, decorations[name]))
		if len(log.Reports) != 1 || log.Reports[0].Mimalloc == nil {
			t.Errorf("%s: %+v", name, log.Reports)
			continue
		}
		m := log.Reports[0].Mimalloc
		if got := m.list(); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if peak := m.Size("committed", "peak"); peak.String() != "66.3 MB" || peak.Line != 3 {
			t.Errorf("%s: committed at most %v in line %d", name, peak, peak.Line)
		}
	}
}

func TestTheSectionsOfNewerMimallocTablesAreOne(t *testing.T) {
	log := readText(t, ` pages           peak       total     current       block      total#
  pages     :     4.2 K      15.2 K       1.9 K
  searches  :     2.7 avg

 arenas          peak       total     current       block      total#
  reserved  :     1.0 GiB     1.0 GiB     1.0 GiB
  committed :   284.9 MiB   707.6 MiB    -1.3 GiB
`)
	if len(log.Reports) != 1 {
		t.Fatalf("%d reports", len(log.Reports))
	}
	m := log.Reports[0].Mimalloc
	if got := m.Size("committed", "peak").String(); got != "284.9 MB" || len(m.Rows) != 4 {
		t.Errorf("committed %s, rows\n%s", got, m.list())
	}
}
