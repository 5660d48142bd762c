package report

import (
	"slices"
	"strings"
)

// block.go: which block a line belongs to, and where one report ends and the next begins.

// class is the kind of allocator a section describes.
type class int

const (
	classUnknown class = iota // named like nothing known: its fields decide
	classStackHead
	classStack
	classLinear
	classDual
	classBucket
	classHeap
)

func classOf(name, tail string) class {
	switch {
	case strings.EqualFold(tail, "TLS Allocator"):
		return classStackHead
	case strings.EqualFold(tail, "Dual Thread Allocator"):
		return classDual
	case strings.HasPrefix(name, "ALLOC_TEMP_JOB_"):
		return classLinear
	case strings.HasPrefix(name, "ALLOC_TEMP_"):
		return classStack
	case strings.HasSuffix(name, "BUCKET"):
		return classBucket
	case strings.HasSuffix(name, "_MAIN"), strings.HasSuffix(name, "_THREAD"),
		name == "ALLOC_MEMORYPROFILER", strings.HasPrefix(name, "ALLOC_PROFILER"):
		return classHeap
	}
	return classUnknown
}

// allows reports whether a section of the class can have the field.
func (c class) allows(f field) bool {
	var fields []field
	switch c {
	case classUnknown:
		return true
	case classStackHead:
		return false
	case classStack:
		fields = stackFields
	case classLinear:
		fields = linearFields
	case classDual:
		fields = dualFields
	case classBucket:
		fields = bucketFields
	case classHeap:
		fields = heapFields
	}
	return slices.Contains(fields, f)
}

var (
	stackFields  = []field{fieldHistogram, fieldInitial, fieldCurrent, fieldPeakBytes, fieldOverflow}
	linearFields = []field{fieldInitial, fieldUsed, fieldTooLarge, fieldFull}
	dualFields   = []field{fieldDeferred}
	bucketFields = []field{fieldLarge, fieldUsed, fieldPeakBytes, fieldLayout, fieldRows}
	heapFields   = []field{fieldHistogram, fieldRequested, fieldPeakBlocks, fieldPeakMemory,
		fieldPeakLarge}
)

// sectionOrder is the order in which every report prints its sections. A section that comes before
// one already seen belongs to another report.
var sectionOrder = map[string]int{
	"ALLOC_TEMP_TLS":       1, // the stacks, all of rank 2, follow
	"ALLOC_MEMORYPROFILER": 3,
	"ALLOC_DEFAULT":        10, "ALLOC_DEFAULT_MAIN": 12, "ALLOC_DEFAULT_THREAD": 13,
	"ALLOC_TEMP_JOB_1_FRAME": 20, "ALLOC_TEMP_JOB_2_FRAMES": 21,
	"ALLOC_TEMP_JOB_4_FRAMES (JobTemp)": 22, "ALLOC_TEMP_JOB_ASYNC (Background)": 23,
	"ALLOC_GFX": 30, "ALLOC_GFX_MAIN": 32, "ALLOC_GFX_THREAD": 33,
	"ALLOC_CACHEOBJECTS": 40, "ALLOC_CACHEOBJECTS_MAIN": 42, "ALLOC_CACHEOBJECTS_THREAD": 43,
	"ALLOC_TYPETREE": 50, "ALLOC_TYPETREE_MAIN": 52, "ALLOC_TYPETREE_THREAD": 53,
	"ALLOC_PROFILER": 60, "ALLOC_PROFILER_EDITOR": 62,
}

const rankStack = 2

// rankOf is the place of a section in sectionOrder; 0 for those that have none.
func rankOf(s *section) int {
	if s.class == classStack {
		return rankStack
	}
	return sectionOrder[s.name]
}

// openBlock returns the block that lines of this origin go to, or nil. It becomes the last one.
func (p *parser) openBlock(from origin, number int) *block {
	for i := len(p.blocks) - 1; i >= 0; i-- {
		b := p.blocks[i]
		glued := b.last >= number-1 && b.origin.source == from.source &&
			strings.HasSuffix(from.shape, b.origin.shape)
		if b.origin != from && !glued {
			continue
		}
		if number-b.last > blockGapMax {
			p.closeBlock(i)
			return nil
		}
		p.blocks = append(slices.Delete(p.blocks, i, i+1), b)
		return b
	}
	return nil
}

// newBlock starts a block with the line, in a run of its own if the present one has a block.
func (p *parser) newBlock(from origin, ln *line, pos int) *block {
	if len(p.blocks) == blocksMax {
		p.closeBlock(0)
	}
	s := p.source(from.source)
	if s.run != nil && s.taken {
		p.renew(s)
	}
	b := &block{origin: from, source: s, run: p.current(s)}
	s.taken = true
	p.takeHeader(b, ln.text[:pos], ln.number)
	p.blocks = append(p.blocks, b)
	return b
}

// blockFor returns the block that a named section belongs to.
func (p *parser) blockFor(ln *line, pos int, s *section) *block {
	from := originOf(ln.text[:pos])
	b := p.openBlock(from, ln.number)
	if b != nil && (p.headerFor(from, ln.number) >= 0 || !b.accepts(s)) {
		p.closeBlock(len(p.blocks) - 1)
		b = nil
	}
	if b == nil {
		b = p.newBlock(from, ln, pos)
	}
	b.admit(s)
	return b
}

// accepts reports whether the section can follow those the block has.
func (b *block) accepts(s *section) bool {
	rank := rankOf(s)
	if rank > 0 && rank < b.rank {
		return false
	}
	if rank > 0 && rank == b.rank && rank != rankStack {
		return false
	}
	if last := len(b.sections) - 1; last >= 0 {
		// A bucket allocator belongs to what follows unless its dual thread allocator was printed.
		orphan := b.sections[last].class == classBucket && (last == 0 || b.sections[last-1].name == "")
		if orphan && b.sections[last].name == "ALLOC_BUCKET" && s.class == classDual {
			return false
		}
	}
	if s.class != classStack {
		return true
	}
	// One version of Unity spells Worker in one way.
	style := workerStyle(s.name)
	return !b.threads[strings.ToLower(s.name)] &&
		(style == "" || b.style == "" || style == b.style)
}

// workerStyle is how the name of a job worker is spelled, "" for other threads.
func workerStyle(name string) string {
	for _, style := range [...]string{"ob.Worker", "ob.worker"} {
		if strings.Contains(name, style) {
			return style
		}
	}
	return ""
}

// admit adds the section to what the block holds.
func (b *block) admit(s *section) {
	b.rank = max(b.rank, rankOf(s))
	if s.class != classStack {
		return
	}
	if b.threads == nil {
		b.threads = map[string]bool{}
	}
	b.threads[strings.ToLower(s.name)] = true
	if b.style == "" {
		b.style = workerStyle(s.name)
	}
}

// closeBlock turns the block into the Usage of its run. A lone line that looks like one of a report
// is no report.
func (p *parser) closeBlock(i int) {
	b := p.blocks[i]
	p.blocks = slices.Delete(p.blocks, i, i+1)
	named := 0
	for _, s := range b.sections {
		if s.name != "" {
			named++
		}
	}
	if b.header == nil && b.fields < 3 && (named == 0 || b.fields == 0) {
		b.source.taken = b.source.run != b.run && b.source.taken
		return
	}
	u := convert(b.sections)
	u.First, u.Last, u.Lines, u.Foreign = b.first, b.last, b.lines, b.foreign
	if h := b.header; h != nil {
		u.Header, u.Glued, u.Before, u.First = h.line, h.prefix, h.before, h.line
		u.Lines++
	}
	b.run.Usage = u
}
