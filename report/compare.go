package report

import (
	"errors"
	"fmt"
	"sort"
)

// compare.go: two or more reports of one program side by side. A count that stays the same in a
// longer run is a mark left by loading; a count that grows is made in every frame. With a baseline
// the question is another: did a change of the settings help?

// Run is one report in a comparison.
type Run struct {
	Name   string `json:"name"`
	Frames int64  `json:"frames"` // 0: unknown
	Taken  int64  `json:"takenBytes"`
	Build  string `json:"build"`
	Line   int    `json:"firstLine"`
	usage  *Usage
}

// Trend says how a count changes with the length of the run.
type Trend string

// The trends.
const (
	Steady  Trend = "steady"  // made while loading
	Growing Trend = "growing" // made in every frame
	Uneven  Trend = "uneven"  // made by events: grows much faster than the run
	Falling Trend = "falling" // smaller in the longer run: the sessions differ
	Unclear Trend = "unclear" // the runs are equally long, or their length is unknown
)

// Counter is one count of the reports in all runs.
type Counter struct {
	Name    string  `json:"name"`  // of the allocator
	Plain   string  `json:"plain"` // in plain words
	Event   string  `json:"event"` // what is counted
	Values  []int64 `json:"values"`
	Missing []bool  `json:"missing,omitempty"` // true where a report lacks the count
	Trend   Trend   `json:"trend"`
	// PerFrame is the growth divided by the additional frames.
	PerFrame float64 `json:"perFrame"`
	Verdict  string  `json:"verdict"`
	key      string  // the setting that would help
	block    Size
}

// Change is a block size that differs between the baseline and a later run.
type Change struct {
	Name   string `json:"name"`
	Plain  string `json:"plain"`
	Before Size   `json:"before"`
	After  Size   `json:"after"`
}

// Comparison is the result of Compare.
type Comparison struct {
	Runs     []Run     `json:"runs"` // shortest first; with a baseline, that one first
	Baseline bool      `json:"baseline"`
	Counters []Counter `json:"counters"`
	Changes  []Change  `json:"changes,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
}

// NamedLog is a log with the name of its file.
type NamedLog struct {
	Name string
	Log  *Log
}

// harmlessRate is a rate per frame that nobody notices: one in a hundred frames.
const harmlessRate = 0.01

// lengthRatioMin is how much longer a run must be for the difference to tell something.
const lengthRatioMin = 1.2

// Compare sets the last report of each log side by side. With baseline the first log is the state
// before a change of settings; otherwise the runs are ordered by their length.
func Compare(logs []NamedLog, baseline bool) (*Comparison, error) {
	c := &Comparison{Baseline: baseline}
	for _, l := range logs {
		run, err := lastRun(l)
		if err != nil {
			return nil, err
		}
		c.Runs = append(c.Runs, run)
	}
	if len(c.Runs) == 1 {
		return nil, errors.New("one report cannot be compared: give a short and a long run")
	}
	if !baseline {
		sort.SliceStable(c.Runs, func(i, j int) bool { return c.Runs[i].Frames < c.Runs[j].Frames })
	}
	c.notes()
	c.counters()
	if baseline {
		c.changes()
	}
	return c, nil
}

// lastRun is the last report of the log that has a block of statistics.
func lastRun(l NamedLog) (Run, error) {
	reports, _ := l.Log.usages()
	if len(reports) == 0 {
		return Run{}, fmt.Errorf("%s: %s granary report %s says more", l.Name,
			noReport(l.Log).Title, l.Name)
	}
	r := reports[len(reports)-1]
	frames, _ := r.Usage.Frames()
	return Run{Name: l.Name, Frames: frames, Taken: r.Usage.Taken(), Build: r.Build().String(),
		Line: r.Usage.First, usage: r.Usage}, nil
}

// notes says what makes the comparison weak.
func (c *Comparison) notes() {
	for _, run := range c.Runs[1:] {
		if run.Build != c.Runs[0].Build {
			c.Notes = append(c.Notes, fmt.Sprintf("%s is a %s, %s a %s: they differ for that reason "+
				"alone.", c.Runs[0].Name, c.Runs[0].Build, run.Name, run.Build))
		}
	}
	for _, run := range c.Runs {
		if run.Frames == 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s does not tell its number of frames, so rates "+
				"are unknown.", run.Name))
		}
	}
	first, last := c.Runs[0], c.Runs[len(c.Runs)-1]
	if !c.Baseline && first.Frames > 0 && !longer(first, last) {
		c.Notes = append(c.Notes, "The runs are about equally long: play one of them much longer to "+
			"tell loading from play.")
	}
}

func longer(short, long Run) bool {
	return short.Frames > 0 && float64(long.Frames) >= lengthRatioMin*float64(short.Frames)
}

// counterRow is one count of one report.
type counterRow struct {
	name, event, key string
	n                int64
	known            bool
	block            Size
}

// rows lists the counts of a report that grow with use.
func rows(u *Usage) []counterRow {
	var all []counterRow
	for _, t := range groupStacks(u) {
		row := counterRow{name: t.highest.Text, event: "ran over", key: t.group.key, n: t.overflow,
			known: t.worst.Overflow.Known(), block: t.worst.Initial}
		if t.threads > 1 || t.group.key != "" {
			row.name = "scratch memory of " + t.group.name
		}
		all = append(all, row)
	}
	for i := range u.Linears {
		l := &u.Linears[i]
		key, _ := linearKey(l.Text)
		all = append(all,
			counterRow{l.Text, "pool full", key, l.Full.N, l.Full.Known(), l.Block},
			counterRow{l.Text, "too large", key, l.TooLarge.N, l.TooLarge.Known(), l.Block})
	}
	if b := u.SharedBucket(); b != nil {
		key := "bucket-allocator-block-size"
		all = append(all, counterRow{"ALLOC_BUCKET", "pool full", key, b.Failed(),
			b.Used.Known() || len(b.Rows) > 0, b.Block})
	}
	return all
}

// counters joins the rows of all runs and judges each.
func (c *Comparison) counters() {
	type identity struct{ name, event string }
	place := map[identity]int{}
	for i, run := range c.Runs {
		for _, row := range rows(run.usage) {
			id := identity{row.name, row.event}
			at, ok := place[id]
			if !ok {
				at = len(c.Counters)
				place[id] = at
				c.Counters = append(c.Counters, newCounter(row, len(c.Runs)))
			}
			if row.known {
				c.Counters[at].Values[i] = row.n
				c.Counters[at].Missing[i] = false
			}
			c.Counters[at].block = row.block
		}
	}
	kept := c.Counters[:0]
	for i := range c.Counters {
		counter := &c.Counters[i]
		if counter.any() {
			c.judge(counter)
			kept = append(kept, *counter)
		}
	}
	c.Counters = kept
	sort.SliceStable(kept, func(i, j int) bool { return trendRank(&kept[i]) > trendRank(&kept[j]) })
}

func newCounter(row counterRow, runs int) Counter {
	counter := Counter{Name: row.name, Plain: PlainName(row.name), Event: row.event, key: row.key,
		Values: make([]int64, runs), Missing: make([]bool, runs)}
	for i := range counter.Missing {
		counter.Missing[i] = true
	}
	return counter
}

// any reports whether the count is above zero in one run at least.
func (c *Counter) any() bool {
	for _, value := range c.Values {
		if value > 0 {
			return true
		}
	}
	return false
}

func trendRank(c *Counter) float64 {
	if c.Trend == Growing || c.Trend == Uneven {
		return 1 + c.PerFrame
	}
	return 0
}

// judge compares the first and the last run that hold the count.
func (c *Comparison) judge(counter *Counter) {
	first, last := -1, -1
	for i := range c.Runs {
		if counter.Missing[i] {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	if first == last {
		counter.Trend, counter.Verdict = Unclear, "only one report holds this count"
		return
	}
	a, b := counter.Values[first], counter.Values[last]
	if c.Baseline {
		counter.judgeChange(c.Runs[first], c.Runs[last], a, b)
		return
	}
	counter.judgeTrend(c.Runs[first], c.Runs[last], a, b)
}

// judgeTrend tells loading from play.
func (c *Counter) judgeTrend(short, long Run, a, b int64) {
	tolerance := max(10, a/10)
	switch {
	case !longer(short, long):
		c.Trend, c.Verdict = Unclear, "the runs do not differ enough in length"
		if short.Frames == 0 || long.Frames == 0 {
			c.Verdict = "the number of frames is unknown"
		}
		return
	case b < a-tolerance:
		c.Trend = Falling
		c.Verdict = "smaller in the longer run: the two sessions did different things"
		return
	case b <= a+tolerance:
		c.Trend = Steady
		c.Verdict = "made while loading; it does not grow, so leave it"
		return
	}
	added, frames := b-a, long.Frames-short.Frames
	c.PerFrame = float64(added) / float64(frames)
	c.Trend = Growing
	if a > 0 && float64(b)/float64(a) > 2*float64(long.Frames)/float64(short.Frames) {
		c.Trend = Uneven
	}
	c.Verdict = fmt.Sprintf("grows by %s", perFrame(added, frames))
	if c.Trend == Uneven {
		c.Verdict += ", not in proportion: made by events of the longer session"
	}
	c.Verdict += "; " + c.remedy()
}

// remedy says what the rate calls for.
func (c *Counter) remedy() string {
	limit := float64(perFrameFine)
	if c.Name == "ALLOC_BUCKET" {
		limit = 1 // no number is documented; steady failures in play are what the manual warns of
	}
	switch {
	case c.PerFrame < harmlessRate:
		return "a harmless rate"
	case c.PerFrame <= limit:
		return "a rate that Unity's manual calls fine"
	case c.key == "" || !c.block.Known():
		return "more than is fine"
	}
	return fmt.Sprintf("try %s%s=%d", settingPrefix, c.key, 2*powerOfTwoAtLeast(c.block.Bytes))
}

// judgeChange tells whether a count became better per frame, or plainly where frames are unknown.
func (c *Counter) judgeChange(before, after Run, a, b int64) {
	c.Trend = Unclear
	rateA, rateB, unit := float64(a), float64(b), ""
	if before.Frames > 0 && after.Frames > 0 {
		rateA, rateB = rateA/float64(before.Frames), rateB/float64(after.Frames)
		unit = fmt.Sprintf(": %s before, %s after", perFrame(a, before.Frames),
			perFrame(b, after.Frames))
	}
	c.PerFrame = rateB - rateA
	harmless := before.Frames > 0 && after.Frames > 0 && rateA < harmlessRate && rateB < harmlessRate
	switch {
	case b == 0:
		c.Trend, c.Verdict = Falling, "gone"
	case harmless || b <= 10 && a <= 10:
		c.Trend, c.Verdict = Steady, "harmless"+unit
	case rateB < rateA*0.8:
		c.Trend, c.Verdict = Falling, "better"+unit
	case rateB > rateA*1.25:
		c.Trend, c.Verdict = Growing, "worse"+unit
	default:
		c.Trend, c.Verdict = Steady, "about the same"+unit
	}
}

// changes lists the block sizes that differ between the baseline and the last run.
func (c *Comparison) changes() {
	before, after := blockSizes(c.Runs[0].usage), blockSizes(c.Runs[len(c.Runs)-1].usage)
	for _, b := range before {
		for _, a := range after {
			if a.name == b.name && a.size.Bytes != b.size.Bytes {
				c.Changes = append(c.Changes, Change{Name: b.name, Plain: b.plain, Before: b.size,
					After: a.size})
			}
		}
	}
}

type blockSize struct {
	name, plain string
	size        Size
}

func blockSizes(u *Usage) []blockSize {
	var all []blockSize
	add := func(name, plain string, s Size) {
		if s.Known() {
			all = append(all, blockSize{name, plain, s})
		}
	}
	for _, t := range groupStacks(u) {
		add(t.group.name, "scratch memory of "+t.group.name, t.highest.Initial)
	}
	for i := range u.Linears {
		add(u.Linears[i].Text, PlainName(u.Linears[i].Text), u.Linears[i].Block)
	}
	if b := u.SharedBucket(); b != nil {
		add("ALLOC_BUCKET", PlainName("ALLOC_BUCKET"), b.Block)
	}
	for _, h := range u.AllHeaps() {
		add(h.Text, PlainName(h.Text), h.Block)
	}
	return all
}
