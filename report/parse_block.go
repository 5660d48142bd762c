package report

import (
	"bytes"
	"slices"
	"strings"
)

// parse_block.go: the lines of a "Memory Statistics" block, gathered section by section. What a
// section is called and which fields it has is all that is known here; convert.go turns the
// gathered sections into a Usage.

const (
	blockGapMax  = 1000 // foreign lines in a row after which a block is over
	sectionsMax  = 600  // sections of one block; a machine of 128 cores has about 200
	binsMax      = 64   // bins of one histogram; there are about 40 different ones
	blockRowsMax = 1000 // rows of bucket tables in one block
	blockBinsMax = 4000 // bins in one block
)

// header is a "Memory Statistics:" line whose block has not begun yet.
type header struct {
	line   int
	origin origin
	prefix string // what stood in front of it on its line
	before []LogLine
}

const headersMax = 16 // waiting at one time

// block is one report block while its lines come in.
type block struct {
	origin   origin
	source   *source
	run      *Report
	header   *header
	sections []*section
	current  *section // where fields go; nil: the next field starts a nameless section
	first    int
	last     int
	lines    int
	fields   int
	rows     int // of bucket tables
	bins     int // of histograms
	foreign  int
	rank     int             // the furthest place in the order of sections
	threads  map[string]bool // lower-case names of the stacks: each comes once
	style    string          // how the block spells the names of job workers
	wantBins *Histogram      // its bins may come on lines of their own
}

// section is one allocator as printed.
type section struct {
	name   string // without brackets; "" when the excerpt starts behind its name
	line   int
	class  class
	times  Count
	counts [countFields]Count
	sizes  [valueFields - countFields]Size
	frames Histogram
	layout int
	rows   []BucketRow
}

func (s *section) has(f field) bool {
	switch {
	case f < countFields:
		return s.counts[f].Known()
	case f < valueFields:
		return s.sizes[f-countFields].Known()
	case f == fieldHistogram:
		return s.frames.Line != 0
	case f == fieldLayout:
		return s.layout != 0
	}
	return false // rows may repeat
}

func (s *section) size(f field) Size { return s.sizes[f-countFields] }

// headerLine handles "Memory Statistics:", which may be glued to the message in front of it.
func (p *parser) headerLine(ln *line, pos int, w *word) bool {
	if len(trimEnd(ln.text[pos+len(w.text):])) > 0 {
		return false
	}
	if len(p.headers) == headersMax {
		p.headers = p.headers[1:]
	}
	p.headers = append(p.headers, &header{line: ln.number, origin: originOf(ln.text[:pos]),
		prefix: printable(trimPrefix(ln.text[:pos])), before: p.lines.before(beforeMax)})
	p.attentive = attention
	return true
}

// headerFor returns the index of the header that a section of this origin at this line belongs to,
// or -1. A heading glued to another message has more in front of it than the section.
func (p *parser) headerFor(from origin, number int) int {
	for i, h := range p.headers {
		if number-h.line > attention {
			continue
		}
		if h.origin == from || number == h.line+1 ||
			h.origin.source == from.source && strings.HasPrefix(h.origin.shape, from.shape) {
			return i
		}
	}
	return -1
}

// takeHeader gives the waiting header to the block that starts at this line.
func (p *parser) takeHeader(b *block, prefix []byte, number int) {
	i := p.headerFor(b.origin, number)
	if i < 0 {
		return
	}
	h := p.headers[i]
	p.headers = slices.Delete(p.headers, i, i+1)
	b.header = h
	if h.origin.shape == b.origin.shape {
		h.prefix = ""
		return
	}
	decoration := printable(trimPrefix(prefix))
	// What is longer than the decoration of the block's own lines is a message of its own.
	if len(decoration) <= len(h.prefix) {
		h.prefix = strings.TrimSpace(h.prefix[len(decoration):])
	}
}

// sectionLine handles a line such as "[ALLOC_TEMP_EnlightenWorker] x 4".
func (p *parser) sectionLine(ln *line, pos int) bool {
	text := trimEnd(ln.text[pos:])
	stop := bytes.LastIndexByte(text, ']')
	if stop < 0 || stop > 200 {
		return false
	}
	s := &section{name: printable(text[1:stop]), line: ln.number}
	tail := string(bytes.TrimSpace(text[stop+1:]))
	switch {
	case tail == "":
	case strings.EqualFold(tail, "TLS Allocator"), strings.EqualFold(tail, "Dual Thread Allocator"):
	case strings.HasPrefix(tail, "x "):
		count, rest, ok := parseCount([]byte(tail[2:]), ln.number)
		if !ok || len(rest) > 0 {
			return false
		}
		s.times = count
	default:
		return false
	}
	s.class = classOf(s.name, tail)
	b := p.blockFor(ln, pos, s)
	b.add(ln.number)
	if len(b.sections) < sectionsMax {
		b.sections = append(b.sections, s)
	}
	b.current, b.wantBins = s, nil
	p.attentive = attention
	return true
}

// stackListLine handles "  StackAllocators : ".
func (p *parser) stackListLine(ln *line, pos int, w *word) bool {
	rest := trimEnd(ln.text[pos+len(w.text):])
	if len(bytes.Trim(rest, " :")) > 0 {
		return false
	}
	b := p.openBlock(originOf(ln.text[:pos]), ln.number)
	if b == nil {
		return false
	}
	b.add(ln.number)
	p.attentive = attention
	return true
}

// fieldLine handles a line such as "      Initial Block Size 4.0 MB".
func (p *parser) fieldLine(ln *line, pos int, w *word) bool {
	f := field(w.id)
	value := bytes.TrimLeft(trimEnd(ln.text[pos+len(w.text):]), " :")
	var count Count
	var size Size
	var frames Histogram
	ok := true
	switch {
	case f < countFields:
		count, value, ok = parseCount(value, ln.number)
	case f < valueFields:
		size, value, ok = parseSize(value, ln.number)
	case f == fieldHistogram:
		value = frames.parse(value, ln.number)
	}
	if !ok || len(value) > 0 {
		return false
	}
	b, s := p.sectionFor(ln, pos, f, size)
	switch {
	case f < countFields:
		s.counts[f] = count
	case f < valueFields:
		s.sizes[f-countFields] = size
	case f == fieldHistogram:
		s.frames.Line = ln.number
		b.addBins(&s.frames, frames)
		if len(frames.Bins) == 0 {
			b.wantBins = &s.frames
		}
	case f == fieldLayout:
		s.layout = ln.number
	}
	p.attentive = attention
	return true
}

// rowLine handles "16B: 182 Subsections = 186368 buckets. Failed count: 29083731".
func (p *parser) rowLine(ln *line, pos int, w *word) bool {
	start := pos
	for start > 0 && isDigit(ln.text[start-1]) {
		start--
	}
	subsections, _, ok := parseCount(ln.text[start:pos], ln.number)
	head := bytes.TrimRight(ln.text[:start], " ")
	if !ok || !bytes.HasSuffix(head, []byte("B:")) {
		return false
	}
	head = head[:len(head)-2]
	start = len(head)
	for start > 0 && isDigit(head[start-1]) {
		start--
	}
	size, _, ok := parseCount(head[start:], ln.number)
	if !ok {
		return false
	}
	buckets, rest, ok := parseCount(trimEnd(ln.text[pos+len(w.text):]), ln.number)
	const middle = " buckets. Failed count: "
	if !ok || !bytes.HasPrefix(rest, []byte(middle)) {
		return false
	}
	failed, rest, ok := parseCount(rest[len(middle):], ln.number)
	if !ok || len(rest) > 0 {
		return false
	}
	b, s := p.sectionFor(ln, start, fieldRows, Size{})
	if b.rows++; b.rows <= blockRowsMax {
		s.rows = append(s.rows, BucketRow{Line: ln.number, Size: size.N,
			Subsections: subsections.N, Buckets: buckets.N, Failed: failed.N})
	}
	p.attentive = attention
	return true
}

// sectionFor returns the section that a field at pos, of this size if it is one, belongs to. A field
// that the current section has already, or cannot have, shows that lines are missing: it starts a
// nameless section.
func (p *parser) sectionFor(ln *line, pos int, f field, size Size) (*block, *section) {
	from := originOf(ln.text[:pos])
	b := p.openBlock(from, ln.number)
	if b == nil {
		b = p.newBlock(from, ln, pos)
	}
	s := b.current
	fits := s != nil && !s.has(f) && s.class.allows(f) && s.follows(f)
	if fits && f == fieldCurrent && s.has(fieldInitial) {
		fits = size.Max() >= s.size(fieldInitial).Min() // stacks never shrink
	}
	if fits && f == fieldRows && len(s.rows) > 0 {
		fits = s.rows[len(s.rows)-1].Line == ln.number ||
			s.rows[len(s.rows)-1].Size < rowSize(ln.text[pos:])
	}
	if !fits {
		s = &section{line: ln.number}
		if len(b.sections) < sectionsMax {
			b.sections = append(b.sections, s)
		}
	}
	b.current, b.wantBins = s, nil
	b.fields++
	b.add(ln.number)
	return b, s
}

func rowSize(text []byte) int64 {
	count, _, _ := parseCount(text, 1)
	return count.N
}

// follows reports whether the field comes behind all those the section has: fields are always
// printed in one order.
func (s *section) follows(f field) bool {
	place := fieldOrder[f]
	for other := range fieldOrder {
		if s.has(other) && fieldOrder[other] > place {
			return false
		}
	}
	return true
}

// fieldOrder is the place of each field among those it is printed with.
var fieldOrder = [...]int{
	fieldHistogram: 0, fieldDeferred: 0, fieldInitial: 1, fieldCurrent: 2, fieldLarge: 1,
	fieldRequested: 1, fieldUsed: 2, fieldPeakBlocks: 2, fieldPeakBytes: 3, fieldPeakMemory: 3,
	fieldTooLarge: 4, fieldPeakLarge: 4, fieldOverflow: 5, fieldFull: 5, fieldLayout: 5, fieldRows: 6,
}

// parse adds the bins of text, such as "[0-1.0 KB]: 5 frames, [1.0 KB-2.0 KB]: 1 frames", and
// returns what it does not understand. A bin that is cut off at the end is left out.
func (h *Histogram) parse(text []byte, number int) []byte {
	for len(h.Bins) < binsMax {
		text = bytes.TrimLeft(text, ", ")
		if len(text) == 0 || text[0] != '[' {
			return text
		}
		bin, rest, ok := parseBin(text, number)
		if !ok {
			if bytes.Contains(text, []byte("frames")) {
				return text
			}
			h.Cut = true
			return nil
		}
		h.Bins = append(h.Bins, bin)
		text = rest
	}
	return text
}

func parseBin(text []byte, number int) (bin Bin, rest []byte, ok bool) {
	rest = text[1:]
	if bytes.HasPrefix(rest, []byte("0-")) {
		bin.From = Size{Line: number}
		rest = rest[1:]
	} else if bin.From, rest, ok = parseSize(rest, number); !ok {
		return bin, text, false
	}
	if len(rest) == 0 || rest[0] != '-' {
		return bin, text, false
	}
	if bin.To, rest, ok = parseSize(rest[1:], number); !ok || !bytes.HasPrefix(rest, []byte("]: ")) {
		return bin, text, false
	}
	count, rest, ok := parseCount(rest[3:], number)
	if !ok || !bytes.HasPrefix(rest, []byte(" frame")) {
		return bin, text, false
	}
	bin.Frames = count.N
	rest = bytes.TrimPrefix(rest[len(" frame"):], []byte("s"))
	return bin, rest, bin.From.Bytes < bin.To.Bytes
}

// blockPlain handles a line without a word: bins that a log system put on a line of their own, a
// blank line, or a foreign line inside the block.
func (p *parser) blockPlain(ln *line) bool {
	if len(p.blocks) == 0 {
		return false
	}
	b := p.blocks[len(p.blocks)-1]
	text := trimEnd(ln.text)
	if b.wantBins != nil {
		if open := bytes.IndexByte(text, '['); open >= 0 {
			for open >= 0 {
				var bins Histogram
				if rest := bins.parse(text[open:], ln.number); len(rest) == 0 && len(bins.Bins) > 0 {
					b.addBins(b.wantBins, bins)
					b.add(ln.number)
					return true
				}
				next := bytes.IndexByte(text[open+1:], '[')
				if next < 0 {
					break
				}
				open += next + 1
			}
		}
	}
	if len(text) == 0 || shapeOf(text) == b.origin.shape {
		return true // blank but for the decoration
	}
	b.foreign++
	if isGap(text) {
		b.current, b.wantBins = nil, nil
	}
	return false
}

// addBins adds bins that belong to h.
func (b *block) addBins(h *Histogram, more Histogram) {
	if b.bins += len(more.Bins); b.bins <= blockBinsMax {
		h.Bins = append(h.Bins, more.Bins...)
	}
	h.Cut = h.Cut || more.Cut || b.bins > blockBinsMax
}

// add counts a line of the block.
func (b *block) add(number int) {
	if b.first == 0 {
		b.first = number
	}
	if number != b.last {
		b.lines++
	}
	b.last = number
}
