package report

import (
	"cmp"
	"slices"
	"strings"
)

// model.go: what a log says, as values.

// Log is everything that was understood of one file.
type Log struct {
	Reports []Report `json:"reports"`
	Facts   Facts    `json:"facts"`
}

// Facts describe the file as a whole.
type Facts struct {
	Bytes       int64     `json:"bytes"` // after unpacking
	Lines       int       `json:"lines"`
	LongLines   int       `json:"longLines"` // longer than 256 KiB: read in pieces
	OddBytes    int64     `json:"oddBytes"`  // control characters in the first MiB; many: not a text
	Dropped     int       `json:"droppedReports"`
	HeaderAtEnd int       `json:"headerAtEnd,omitempty"` // the log ends right behind this header
	Before      []LogLine `json:"before,omitempty"`      // the lines in front of that header
	Engine      *LogLine  `json:"engine,omitempty"`      // the last version named
	Crashes     []LogLine `json:"crashes,omitempty"`     // lines of a crash handler
	SwitchLine  int       `json:"switchLine,omitempty"`  // -log-memory-performance-stats was given
	Tail        []LogLine `json:"tail,omitempty"`        // the last lines of the file
}

// LogLine is a line quoted from the log.
type LogLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Report is what a log says about one run of a program: its memory report, and whatever belongs to
// the same run. Parts that the log does not hold are nil or empty.
type Report struct {
	Source string    `json:"source,omitempty"` // container, process or unit the lines came from
	Engine *LogLine  `json:"engine,omitempty"` // the version, such as 2022.3.9f1
	Usage  *Usage    `json:"usage,omitempty"`  // "Memory Statistics"
	Start  *Settings `json:"start,omitempty"`  // the values in force, listed at start
	Leaks  *Leaks    `json:"leaks,omitempty"`  // the ##utp line
	// Mimalloc is the table that newer versions print in addition or instead.
	Mimalloc  *Mimalloc     `json:"mimalloc,omitempty"`
	Native    *Native       `json:"granary,omitempty"` // Granary's own report
	OutOf     []OutOfMemory `json:"outOfMemory,omitempty"`
	OutOfMore int           `json:"outOfMemoryMore,omitempty"` // further ones, only counted
	Warnings  []Warning     `json:"warnings,omitempty"`        // one entry a kind and subject
}

// Usage is the block that starts with "Memory Statistics:".
type Usage struct {
	First   int       `json:"firstLine"`
	Last    int       `json:"lastLine"`
	Header  int       `json:"headerLine,omitempty"` // 0: the excerpt starts behind it
	Glued   string    `json:"gluedTo,omitempty"`    // a message the header was printed behind
	Before  []LogLine `json:"before,omitempty"`     // the last lines in front of the block
	Lines   int       `json:"lines"`                // lines that belong to the block
	Foreign int       `json:"foreignLines"`         // lines in between that do not

	TempLine int      `json:"tempLine,omitempty"` // of [ALLOC_TEMP_TLS]
	Stacks   []Stack  `json:"stacks,omitempty"`
	Duals    []Dual   `json:"duals,omitempty"`
	Linears  []Linear `json:"linears,omitempty"`
	Heaps    []Heap   `json:"heaps,omitempty"` // those outside a dual thread allocator
}

// Name of a section. Guessed tells that the log does not print it: it follows from the neighbours.
type Name struct {
	Text    string `json:"name"`
	Line    int    `json:"line,omitempty"`
	Guessed bool   `json:"guessed,omitempty"`
}

// Stack is the temporary allocator of one thread, or of several threads of one name.
type Stack struct {
	Name
	Threads  Count     `json:"threads"` // from " x 4"; unknown means one
	Frames   Histogram `json:"frames"`
	Initial  Size      `json:"initialBlockSize"`
	Current  Size      `json:"currentBlockSize"`
	Peak     Size      `json:"peakAllocatedBytes"`
	Overflow Count     `json:"overflowCount"`
}

// Dual is a dual thread allocator: a bucket allocator in front of two heaps.
type Dual struct {
	Name
	Deferred Count   `json:"peakMainDeferredAllocationCount"`
	Bucket   *Bucket `json:"bucket,omitempty"`
	Main     *Heap   `json:"main,omitempty"`
	Thread   *Heap   `json:"thread,omitempty"`
}

// Bucket is an allocator of small blocks of fixed sizes.
type Bucket struct {
	Name
	Block  Size        `json:"largeBlockSize"`
	Used   Count       `json:"usedBlockCount"`
	Peak   Size        `json:"peakAllocatedBytes"`
	Layout int         `json:"layoutLine,omitempty"` // of "Failed Allocations. Bucket layout:"
	Rows   []BucketRow `json:"rows,omitempty"`
}

// BucketRow is one size of a bucket allocator that ran full.
type BucketRow struct {
	Line        int   `json:"line"`
	Size        int64 `json:"sizeBytes"`
	Subsections int64 `json:"subsections"`
	Buckets     int64 `json:"buckets"`
	Failed      int64 `json:"failed"`
}

// Heap is a dynamic heap.
type Heap struct {
	Name
	Frames Histogram `json:"frames"`
	Block  Size      `json:"requestedBlockSize"`
	Blocks Count     `json:"peakBlockCount"`
	Peak   Size      `json:"peakAllocatedMemory"`
	Large  Size      `json:"peakLargeAllocationBytes"`
	Bucket *Bucket   `json:"bucket,omitempty"` // [ALLOC_PROFILER_BUCKET]
}

// Linear is a thread-safe linear allocator.
type Linear struct {
	Name
	Block    Size  `json:"initialBlockSize"`
	Used     Count `json:"usedBlockCount"`
	TooLarge Count `json:"overflowTooLarge"`
	Full     Count `json:"overflowFull"`
}

// Histogram counts frames by their peak use.
type Histogram struct {
	Line int   `json:"line,omitempty"`
	Bins []Bin `json:"bins,omitempty"`
	Cut  bool  `json:"cut,omitempty"` // the line ends inside the list
}

// Bin counts the frames whose peak use lay between From and To.
type Bin struct {
	From   Size  `json:"from"`
	To     Size  `json:"to"`
	Frames int64 `json:"frames"`
}

// Total is the number of frames counted.
func (h Histogram) Total() int64 {
	var total int64
	for _, bin := range h.Bins {
		total += bin.Frames
	}
	return total
}

// Above is the number of frames whose peak use was at least limit.
func (h Histogram) Above(limit int64) int64 {
	var total int64
	for _, bin := range h.Bins {
		if bin.From.Bytes >= limit {
			total += bin.Frames
		}
	}
	return total
}

// Settings is the list of values in force that Unity prints when it starts.
type Settings struct {
	Line   int       `json:"line,omitempty"` // of the heading; 0: the excerpt starts behind it
	Values []Setting `json:"values"`
}

// Setting is one value of the start-up list.
type Setting struct {
	Key   string `json:"key"`
	Value int64  `json:"value"`
	Line  int    `json:"line"`
}

// Leaks is the line of the test protocol that lists memory by label at the end.
type Leaks struct {
	Line   int    `json:"line"`
	Phase  string `json:"phase"`
	Total  int64  `json:"allocatedMemory"`
	Labels []Leak `json:"labels"`
}

// Leak is one label of Leaks.
type Leak struct {
	Label string `json:"label"`
	Bytes int64  `json:"bytes"`
}

// Mimalloc is the statistics table of mimalloc.
type Mimalloc struct {
	Line int           `json:"line"`
	Rows []MimallocRow `json:"rows"`
}

// MimallocRow is one row; a value that is no size has its number in N.
type MimallocRow struct {
	Name   string          `json:"name"`
	Line   int             `json:"line"`
	Values []MimallocValue `json:"values"`
	Note   string          `json:"note,omitempty"`
}

// MimallocValue is a cell of the table.
type MimallocValue struct {
	Column string  `json:"column"`
	Size   Size    `json:"size"`
	N      float64 `json:"n,omitempty"`
	Text   string  `json:"text"`
}

// OutOfMemory is a failed request that ended the program, with the overview printed then.
type OutOfMemory struct {
	Line      int        `json:"line"`
	Requested uint64     `json:"requestedBytes"`
	AskLine   int        `json:"askLine,omitempty"`
	Align     int64      `json:"alignment,omitempty"`
	Label     string     `json:"label,omitempty"`
	Where     string     `json:"where,omitempty"`
	Probes    int        `json:"failedProbes,omitempty"`
	Overview  []Overview `json:"overview,omitempty"`
}

// Overview is one allocator's line of an out-of-memory block.
type Overview struct {
	Name     string `json:"name"`
	Line     int    `json:"line"`
	Used     int64  `json:"usedBytes"`
	Peak     int64  `json:"peakBytes"`
	Reserved int64  `json:"reservedBytes"`
}

// Warning gathers all messages of one kind and subject, however often the log repeats them.
type Warning struct {
	Kind    WarningKind `json:"kind"`
	Subject string      `json:"subject,omitempty"` // thread or allocator
	Count   int64       `json:"count"`
	First   LogLine     `json:"first"`
	Last    LogLine     `json:"last"`
	Before  []LogLine   `json:"before,omitempty"` // lines in front of the first one
	// Times of the first and the last one in seconds of an unnamed clock; Timed tells if there are.
	FirstTime float64 `json:"firstTime,omitempty"`
	LastTime  float64 `json:"lastTime,omitempty"`
	Timed     bool    `json:"timed,omitempty"`
	// Sizes and ages printed in the messages.
	SizeMin int64  `json:"sizeMin,omitempty"`
	SizeMax int64  `json:"sizeMax,omitempty"`
	AgeMin  int64  `json:"ageMin,omitempty"`
	AgeMax  int64  `json:"ageMax,omitempty"`
	Advice  string `json:"advice,omitempty"` // the switch or define the message itself names
	// Near counts what the log printed in front of the messages: the likely cause.
	Near   map[string]int64 `json:"near,omitempty"`
	Benign string           `json:"benign,omitempty"` // the user's own words for "known"
	Stacks []LogLine        `json:"stacks,omitempty"` // "Allocation of N bytes at ..."
}

// WarningKind names a family of life-time messages.
type WarningKind string

// The kinds of life-time messages.
const (
	JobTempOld       WarningKind = "jobtemp-old"       // allocations older than 4 frames
	JobTempLateFree  WarningKind = "jobtemp-late-free" // freed after more than 4 frames
	JobTempRemaining WarningKind = "jobtemp-remaining" // left at the end
	JobTempInvalid   WarningKind = "jobtemp-invalid"   // freed a pointer that is none
	TempUnfreed      WarningKind = "temp-unfreed"      // Temp memory not freed within the frame
)

// Frames is the number of frames the report covers: the sum of any of its histograms. It is 0 when
// there is none, and exact is false when the histograms disagree (parts of different reports).
func (u *Usage) Frames() (frames int64, exact bool) {
	exact = true
	add := func(h Histogram) {
		total := h.Total()
		if total == 0 || h.Cut {
			return
		}
		if frames != 0 && total != frames {
			exact = false
		}
		frames = max(frames, total)
	}
	for i := range u.Stacks {
		add(u.Stacks[i].Frames)
	}
	for _, heap := range u.AllHeaps() {
		add(heap.Frames)
	}
	return frames, exact
}

// AllHeaps returns every dynamic heap in the order of the report.
func (u *Usage) AllHeaps() []*Heap {
	var heaps []*Heap
	for i := range u.Heaps {
		heaps = append(heaps, &u.Heaps[i])
	}
	for i := range u.Duals {
		if u.Duals[i].Main != nil {
			heaps = append(heaps, u.Duals[i].Main)
		}
		if u.Duals[i].Thread != nil {
			heaps = append(heaps, u.Duals[i].Thread)
		}
	}
	return heaps
}

// SharedBucket returns the bucket allocator of the dual thread allocators. The report prints this
// one allocator once for each of them; where an excerpt cuts the copies, what they have between
// them is joined.
func (u *Usage) SharedBucket() *Bucket {
	var joined *Bucket
	for i := range u.Duals {
		b := u.Duals[i].Bucket
		if b == nil {
			continue
		}
		if joined == nil {
			copied := *b
			copied.Rows = slices.Clone(b.Rows)
			joined = &copied
			continue
		}
		joined.join(b)
	}
	return joined
}

// join adds what another copy of the same allocator has and this one lacks.
func (b *Bucket) join(other *Bucket) {
	if !b.Block.Known() {
		b.Block = other.Block
	}
	if !b.Used.Known() {
		b.Used = other.Used
	}
	if !b.Peak.Known() {
		b.Peak = other.Peak
	}
	for _, row := range other.Rows {
		if !slices.ContainsFunc(b.Rows, func(r BucketRow) bool { return r.Size == row.Size }) {
			b.Rows = append(b.Rows, row)
		}
	}
	slices.SortStableFunc(b.Rows, func(x, y BucketRow) int { return cmp.Compare(x.Size, y.Size) })
}

// Failed is the number of requests the bucket allocator could not serve.
func (b *Bucket) Failed() int64 {
	var total int64
	for _, row := range b.Rows {
		total += row.Failed
	}
	return total
}

const subsectionBytes = 16 << 10 // the piece of a block that serves one size

// Header returns the bytes in front of every block that the row's numbers give away: 0 in release
// builds, more in development builds. ok is false when no header fits all rows.
func (b *Bucket) Header() (bytes int64, ok bool) {
	for header := int64(0); header <= 64; header += 8 {
		fits := len(b.Rows) > 0
		for _, row := range b.Rows {
			if row.Size <= 0 || row.Subsections*subsectionBytes/(row.Size+header) != row.Buckets {
				fits = false
				break
			}
		}
		if fits {
			return header, true
		}
	}
	return 0, false
}

// Build tells what kind of program printed the report.
type Build int

// The kinds of builds.
const (
	BuildUnknown Build = iota
	BuildRelease
	BuildDevelopment
	BuildEditor
)

func (b Build) String() string {
	return [...]string{"build unknown", "release player", "development player", "Editor"}[b]
}

// Build works out the kind of program from what only one kind prints. A report without any such
// sign is of an unknown build unless its buckets show that blocks carry no header.
func (r *Report) Build() Build {
	if r.Start != nil {
		for _, s := range r.Start.Values {
			if s.Key == "memorysetup-bucket-allocator-block-size" && s.Value == 32<<20 {
				return BuildEditor
			}
		}
	}
	u := r.Usage
	if u == nil {
		return BuildUnknown
	}
	build := BuildUnknown
	for i := range u.Stacks {
		name := u.Stacks[i].Text
		if strings.Contains(name, "AssetDatabase") || strings.Contains(name, "BakingJobs") ||
			strings.Contains(name, "EditorTaskManager") ||
			(name == mainStack && u.Stacks[i].Initial.Bytes == 16<<20) {
			return BuildEditor
		}
	}
	for i := range u.Heaps {
		switch u.Heaps[i].Text {
		case "ALLOC_PROFILER_EDITOR":
			return BuildEditor
		case "ALLOC_PROFILER", "ALLOC_MEMORYPROFILER":
			build = BuildDevelopment
		}
	}
	if bucket := u.SharedBucket(); bucket != nil {
		if bucket.Block.Bytes == 32<<20 {
			return BuildEditor
		}
		if header, ok := bucket.Header(); ok && header > 0 {
			build = BuildDevelopment
		} else if ok && build == BuildUnknown {
			build = BuildRelease
		}
	}
	if build == BuildUnknown && u.complete() {
		build = BuildRelease // a complete report of the others has profiler sections
	}
	return build
}

// complete reports whether the block has its head and its last section.
func (u *Usage) complete() bool {
	if u.Header == 0 || u.TempLine == 0 || len(u.Duals) < 4 {
		return false
	}
	last := u.Duals[len(u.Duals)-1]
	return last.Text == "ALLOC_TYPETREE" && last.Thread != nil && last.Thread.Large.Known()
}

const mainStack = "ALLOC_TEMP_MAIN"
