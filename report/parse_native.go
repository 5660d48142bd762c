package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// parse_native.go: Granary's own usage report, as text or as a line of JSON. docs/usage-report.md
// describes both.

// Native is Granary's usage report of one process. Sizes of a text report are rounded, those of
// JSON are exact.
type Native struct {
	Line    int    `json:"line"`
	Last    int    `json:"lastLine"`
	Name    string `json:"name"`
	PID     int64  `json:"pid"`
	Version string `json:"version"`
	Command string `json:"command,omitempty"`

	ElapsedSeconds float64 `json:"elapsedSeconds"`
	UserSeconds    float64 `json:"userSeconds"`
	SystemSeconds  float64 `json:"systemSeconds"`

	PeakRSS       Size  `json:"peakRss"`
	Spans         Size  `json:"spans"` // held now
	UsedPeak      Size  `json:"usedPeak"`
	Range         Size  `json:"range"`
	Resident      Size  `json:"resident"`
	ResidentPeak  Size  `json:"residentPeak"`
	Tables        Size  `json:"tables"`
	ReleasedSpans Count `json:"releasedSpans"`
	Released      Size  `json:"released"`
	Sweeps        Count `json:"sweeps"`
	Caches        Count `json:"threadCaches"`
	CachesPeak    Count `json:"threadCachesPeak"`
	BatchesGiven  Count `json:"batchesGiven"`
	BatchesTaken  Count `json:"batchesTaken"`
	NormalFrees   Count `json:"normalFrees"`
	Overflow      Count `json:"overflowMallocs"`
	Limit         Size  `json:"limit"`
	Refused       Count `json:"refused"`

	Classes []NativeClass `json:"classes,omitempty"`
	Normal  *NativeClass  `json:"normal,omitempty"` // blocks from the system allocator
	Sum     *NativeClass  `json:"sum,omitempty"`
}

// NativeClass is a row of the table: a size class, the normal tier, or the sum.
type NativeClass struct {
	Line    int    `json:"line"`
	Tier    string `json:"tier,omitempty"`
	Bytes   int64  `json:"blockBytes,omitempty"`
	Blocks  Count  `json:"blocks"`
	Peak    Count  `json:"blocksPeak"`
	Mallocs Count  `json:"mallocs"`
	Asked   Size   `json:"asked"`
	Cached  Size   `json:"cached"`
	Held    Size   `json:"held"`
	Count   Count  `json:"spans"`
}

// nativeReport is a text report whose lines are still coming.
type nativeReport struct {
	report *Native
}

const (
	nativeClassesMax = 128
	nativeLinesMax   = 8 // foreign lines after which a report is over
)

// nativeLine handles "granary: usage report of NAME, pid N, version V" and the JSON form.
func (p *parser) nativeLine(ln *line, pos int, w *word) bool {
	if w.id == nativeJSON {
		return p.nativeObject(ln, pos)
	}
	text := trimEnd(ln.text[pos+len(w.text):])
	version := bytes.LastIndex(text, []byte(", version "))
	if version < 0 {
		return false
	}
	pid := bytes.LastIndex(text[:version], []byte(", pid "))
	if pid < 0 {
		return false
	}
	number, rest, ok := parseCount(text[pid+len(", pid "):version], ln.number)
	if !ok || len(rest) > 0 {
		return false
	}
	n := &Native{Line: ln.number, Last: ln.number, PID: number.N, Name: printable(text[:pid]),
		Version: printable(text[version+len(", version "):])}
	p.newNative(ln, pos, n).native = &nativeReport{report: n}
	p.attentive = attention
	return true
}

// newNative starts a run with the report: every process is one.
func (p *parser) newNative(ln *line, pos int, n *Native) *source {
	s := p.source(sourceOf(ln.text[:pos]))
	if s.run != nil && (s.taken || !s.run.empty()) {
		p.renew(s)
	}
	p.current(s).Native = n
	s.taken = true
	return s
}

// nativePlain handles the lines below the heading, which begin with a word of their own.
func (p *parser) nativePlain(s *source, ln *line) bool {
	n := s.native.report
	if ln.number-n.Last > nativeLinesMax {
		s.native = nil
		return false
	}
	text := string(trimEnd(ln.text))
	start := -1
	for _, first := range nativeWords {
		if at := strings.Index(text, first); at >= 0 && (start < 0 || at < start) &&
			(at == 0 || text[at-1] == ' ') {
			start = at
		}
	}
	if start < 0 {
		return false
	}
	text = text[start:]
	label, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if !n.fact(label, rest, ln.number) && !n.row(label, rest, ln.number) {
		return false
	}
	n.Last = ln.number
	p.attentive = attention
	if label == "sum" {
		s.native = nil
	}
	return true
}

// nativeWords begin the lines of a text report.
var nativeWords = [...]string{"command ", "process ", "spans ", "memory ", "released ", "threads ",
	"system ", "tier ", "tiny ", "small ", "normal ", "sum "}

// after returns the text behind the first of the labels that the text has, without blanks.
func after(text, label string) string {
	_, rest, ok := strings.Cut(text, label)
	if !ok {
		return ""
	}
	return strings.TrimLeft(rest, " ")
}

func sizeAfter(text, label string, number int) Size {
	size, _, _ := parseSize([]byte(after(text, label)), number)
	return size
}

// countAfter reads a count with commas behind the label.
func countAfter(text, label string, number int) Count {
	count, _ := nativeCount(after(text, label), number)
	return count
}

// nativeCount reads "1,234,567" or "18.4 E", and returns how many words it took.
func nativeCount(text string, number int) (Count, int) {
	word, rest, _ := strings.Cut(text, " ")
	digits := strings.ReplaceAll(strings.TrimRight(word, ",)"), ",", "")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return Count{N: n, Line: number}, 1
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || rest == "" {
		return Count{}, 0
	}
	scale := map[byte]float64{'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'P': 1e15, 'E': 1e18}[rest[0]]
	if scale == 0 {
		return Count{}, 0
	}
	return Count{N: int64(min(value*scale, cappedMax)), Line: number}, 2
}

func secondsAfter(text, label string) float64 {
	word, _, _ := strings.Cut(after(text, label), " ")
	seconds, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0
	}
	return seconds
}

// fact reads one of the lines above the table.
func (n *Native) fact(label, rest string, number int) bool {
	switch label {
	case "command":
		n.Command = rest
	case "process":
		n.PeakRSS = sizeAfter(rest, "peak RSS", number)
		n.ElapsedSeconds = secondsAfter(rest, "ran ")
		n.UserSeconds, n.SystemSeconds = secondsAfter(rest, "user "), secondsAfter(rest, "system ")
		return n.PeakRSS.Known()
	case "spans":
		n.Spans = sizeAfter(rest, "held", number)
		n.UsedPeak = sizeAfter(rest, "reserved at most", number)
		n.Range = sizeAfter(rest, "range of", number)
		return n.Spans.Known()
	case "memory":
		n.Resident = sizeAfter(rest, "resident", number)
		n.ResidentPeak = sizeAfter(rest, "(peak", number)
		n.Tables = sizeAfter(rest, "own tables", number)
		return n.Resident.Known()
	case "released":
		n.ReleasedSpans = countAfter(rest, "spans ", number)
		n.Released = sizeAfter(rest, "(", number)
		n.Sweeps = countAfter(rest, "sweeps ", number)
		return n.ReleasedSpans.Known()
	case "threads":
		n.Caches, n.CachesPeak = countAfter(rest, "caches ", number), countAfter(rest, "(peak ", number)
		n.BatchesGiven = countAfter(rest, "given ", number)
		n.BatchesTaken = countAfter(rest, "taken ", number)
		return n.Caches.Known()
	case "system":
		n.NormalFrees = countAfter(rest, "normal frees ", number)
		n.Overflow = countAfter(rest, "overflow mallocs ", number)
		n.Limit = sizeAfter(rest, " limit ", number)
		n.Refused = countAfter(rest, "refused ", number)
		return n.NormalFrees.Known()
	case "tier":
		return strings.HasPrefix(rest, "class")
	default:
		return false
	}
	return true
}

// row reads a row of the table; "all" rows repeat what the others say.
func (n *Native) row(tier, rest string, number int) bool {
	words := strings.Fields(rest)
	row := NativeClass{Line: number, Tier: tier}
	if tier != "sum" {
		if len(words) == 0 {
			return false
		}
		class := words[0]
		words = words[1:]
		if class == "all" {
			return true
		}
		row.Bytes, _ = strconv.ParseInt(class, 10, 64)
	}
	next := func() (value Size) { // "77.2 MiB", or a dash
		if len(words) > 1 && words[0] != "-" {
			value, _, _ = parseSize([]byte(words[0]+" "+words[1]), number)
			words = words[2:]
		} else if len(words) > 0 {
			words = words[1:]
		}
		return value
	}
	count := func() (value Count) {
		taken := 0
		if value, taken = nativeCount(strings.Join(words, " "), number); taken == 0 {
			taken = 1
		}
		words = words[min(taken, len(words)):]
		return value
	}
	row.Blocks, row.Peak, row.Mallocs = count(), count(), count()
	row.Asked = next()
	count() // the share of waste follows from the others
	row.Cached, row.Held = next(), next()
	row.Count = count()
	if !row.Mallocs.Known() || !row.Held.Known() {
		return false
	}
	switch tier {
	case "sum":
		n.Sum = &row
	case "normal":
		n.Normal = &row
	default:
		if len(n.Classes) < nativeClassesMax {
			n.Classes = append(n.Classes, row)
		}
	}
	return true
}

// nativeObject handles a report in JSON.
func (p *parser) nativeObject(ln *line, pos int) bool {
	var o nativeJSONReport
	decoder := json.NewDecoder(bytes.NewReader(ln.text[pos:]))
	if err := decoder.Decode(&o); err != nil || o.Format != 1 {
		return false
	}
	n := o.native(ln.number)
	p.newNative(ln, pos, n)
	return true
}

// nativeJSONReport has the keys that are read; figures may be as large as 2^64 - 1.
type nativeJSONReport struct {
	Format         int      `json:"granary_report"`
	Version        string   `json:"version"`
	Name           string   `json:"name"`
	PID            int64    `json:"pid"`
	Command        []string `json:"command"`
	ElapsedSeconds float64  `json:"elapsed_seconds"`
	UserSeconds    float64  `json:"user_seconds"`
	SystemSeconds  float64  `json:"system_seconds"`
	PeakRSS        uint64   `json:"peak_rss_bytes"`
	Range          uint64   `json:"range_bytes"`
	UsedPeak       uint64   `json:"used_peak_bytes"`
	Spans          uint64   `json:"span_bytes"`
	Resident       uint64   `json:"resident_bytes"`
	ResidentPeak   uint64   `json:"resident_peak_bytes"`
	Tables         uint64   `json:"metadata_bytes"`
	ReleasedSpans  uint64   `json:"spans_released"`
	Released       uint64   `json:"released_bytes"`
	Sweeps         uint64   `json:"sweeps"`
	Caches         uint64   `json:"thread_caches"`
	CachesPeak     uint64   `json:"thread_caches_peak"`
	NormalMallocs  uint64   `json:"normal_mallocs"`
	NormalFrees    uint64   `json:"normal_frees"`
	NormalBytes    uint64   `json:"normal_bytes"`
	NormalLive     uint64   `json:"normal_live_bytes"`
	Overflow       uint64   `json:"overflow_mallocs"`
	Limit          uint64   `json:"limit_bytes"`
	Refused        uint64   `json:"limit_failures"`
	Classes        []struct {
		Tier    string `json:"tier"`
		Bytes   uint64 `json:"block_bytes"`
		Mallocs uint64 `json:"mallocs"`
		Asked   uint64 `json:"asked_bytes"`
		Blocks  uint64 `json:"blocks"`
		Peak    uint64 `json:"blocks_peak"`
		Cached  uint64 `json:"blocks_cached"`
		Spans   uint64 `json:"spans"`
		Held    uint64 `json:"held_bytes"`
	} `json:"classes"`
	Sum struct {
		Blocks     uint64 `json:"blocks"`
		Mallocs    uint64 `json:"mallocs"`
		Asked      uint64 `json:"asked_bytes"`
		Cached     uint64 `json:"cached_bytes"`
		Held       uint64 `json:"held_bytes"`
		Spans      uint64 `json:"spans"`
		BatchesIn  uint64 `json:"batches_in"`
		BatchesOut uint64 `json:"batches_out"`
	} `json:"sum"`
}

// native converts the object; all its figures stand in one line.
func (o *nativeJSONReport) native(number int) *Native {
	size := func(n uint64) Size { return Size{Bytes: capped(n), Line: number} }
	count := func(n uint64) Count { return Count{N: capped(n), Line: number} }
	n := &Native{Line: number, Last: number, Name: printable([]byte(o.Name)), PID: o.PID,
		Version: printable([]byte(o.Version)), Command: printable([]byte(strings.Join(o.Command, " "))),
		ElapsedSeconds: o.ElapsedSeconds, UserSeconds: o.UserSeconds, SystemSeconds: o.SystemSeconds,
		PeakRSS: size(o.PeakRSS), Spans: size(o.Spans), UsedPeak: size(o.UsedPeak),
		Range: size(o.Range), Resident: size(o.Resident), ResidentPeak: size(o.ResidentPeak),
		Tables: size(o.Tables), ReleasedSpans: count(o.ReleasedSpans), Released: size(o.Released),
		Sweeps: count(o.Sweeps), Caches: count(o.Caches), CachesPeak: count(o.CachesPeak),
		BatchesGiven: count(o.Sum.BatchesIn), BatchesTaken: count(o.Sum.BatchesOut),
		NormalFrees: count(o.NormalFrees), Overflow: count(o.Overflow), Refused: count(o.Refused)}
	if o.Limit > 0 {
		n.Limit = size(o.Limit)
	}
	for _, c := range o.Classes[:min(len(o.Classes), nativeClassesMax)] {
		n.Classes = append(n.Classes, NativeClass{Line: number, Tier: printable([]byte(c.Tier)),
			Bytes: capped(c.Bytes), Blocks: count(c.Blocks), Peak: count(c.Peak),
			Mallocs: count(c.Mallocs), Asked: size(c.Asked),
			Cached: size(multiplyCapped(c.Cached, c.Bytes)), Held: size(c.Held), Count: count(c.Spans)})
	}
	n.Normal = &NativeClass{Line: number, Tier: "normal", Mallocs: count(o.NormalMallocs),
		Blocks: count(o.NormalMallocs - min(o.NormalFrees, o.NormalMallocs)),
		Asked:  size(o.NormalBytes), Held: size(o.NormalLive)}
	n.Sum = &NativeClass{Line: number, Blocks: count(o.Sum.Blocks), Mallocs: count(o.Sum.Mallocs),
		Asked: size(o.Sum.Asked), Cached: size(o.Sum.Cached), Held: size(o.Sum.Held),
		Count: count(o.Sum.Spans)}
	return n
}

const cappedMax = 1 << 62 // far beyond any real figure, and safe to add up

func capped(n uint64) int64 { return int64(min(n, cappedMax)) }

func multiplyCapped(a, b uint64) uint64 {
	if b != 0 && a > cappedMax/b {
		return cappedMax
	}
	return a * b
}
