package report

import (
	"bytes"
	"encoding/json"
	"io"
)

// parse.go: the parser's frame. doc.go has the overview.

const (
	reportsMax = 64 // reports kept of one log: the first half and the last half
	sourcesMax = 64 // programs told apart in one log
	blocksMax  = 16 // report blocks open at one time
	attention  = 64 // lines read one by one behind a line of interest
	beforeMax  = 20 // lines quoted in front of a block
	crashesMax = 20
)

// Options change how a log is read.
type Options struct {
	// Benign names texts that mark a life-time warning as known: a warning is marked when the
	// warning itself or one of the lines in front of it contains one of them.
	Benign []string
	// Trace, when set, is called for every line that the parser understood as part of a report.
	Trace func(line int)
}

// Parse reads a log and returns what it says about each run of a program, oldest first. The error
// tells why reading stopped early; the reports read until then are returned with it.
func Parse(r io.Reader) ([]Report, error) {
	log, err := Read(r, Options{})
	return log.Reports, err
}

// Read is Parse with options and with the facts about the file as a whole. The log is never nil.
func Read(r io.Reader, options Options) (*Log, error) {
	p := &parser{options: options, log: &Log{}, sources: map[string]*source{}}
	text, err := openText(r)
	if err != nil {
		return p.log, err
	}
	p.lines = newLineSource(text, logWords)
	for {
		ln, ok := p.lines.read(p.attentive == 0)
		if !ok {
			break
		}
		if p.attentive > 0 {
			p.attentive--
		}
		p.line(ln)
	}
	p.finish()
	return p.log, p.lines.err
}

// source is one program whose lines the log holds.
type source struct {
	name string
	run  *Report // the run its lines belong to now, nil before the first
	// taken: a block of the run is open or done, so the next block starts a new run
	taken    bool
	engine   *LogLine
	probes   int          // failed attempts seen in front of an out-of-memory message
	oom      *OutOfMemory // the one whose lines may follow
	lastWarn int          // line of the last life-time message or of what belongs to it
	warning  *Warning     // the last one, which hints and stacks belong to
	// firstOfPair: the last message has the wording of the first line of a pair
	firstOfPair bool
	table       *mimallocTable
	native      *nativeReport
}

// parser is the state of one Read.
type parser struct {
	options   Options
	log       *Log
	lines     *lineSource
	sources   map[string]*source
	runs      []*Report // in the order of their first line
	dropped   int
	blocks    []*block  // open ones, the one used last at the end
	headers   []*header // those whose first section is still to come, oldest first
	attentive int       // lines left to read one by one
}

// line handles one line, which a log system or a browser may have made of several.
func (p *parser) line(ln line) {
	text := unwrap(ln.text)
	carriage := bytes.IndexByte(text, '\r') >= 0
	escaped := ln.pos >= 0 && bytes.Count(text, []byte(`\n`)) > 1
	if len(text) == len(ln.text) && !carriage && !escaped {
		p.one(ln)
		return
	}
	if escaped {
		text = bytes.ReplaceAll(text, []byte(`\n`), []byte("\n"))
	}
	if carriage {
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	}
	for part := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		piece := line{text: part, number: ln.number}
		piece.pos, piece.word = logWords.find(part, 0)
		p.one(piece)
	}
}

// unwrap returns the message of a line that is a JSON object, as docker's json-file driver and many
// collectors write it; other lines come back as they are.
func unwrap(text []byte) []byte {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return text
	}
	var object struct {
		Log, Message, Msg, Line *string
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return text
	}
	for _, message := range []*string{object.Log, object.Message, object.Msg, object.Line} {
		if message != nil {
			return []byte(*message)
		}
	}
	return text
}

// one offers the line to the part of the parser that its first word names, then to the next.
func (p *parser) one(ln line) {
	pos, index := ln.pos, ln.word
	for tries := 0; pos >= 0 && tries < 16; tries++ {
		w := &logWords.words[index]
		if p.dispatch(&ln, pos, w) {
			if p.options.Trace != nil {
				p.options.Trace(ln.number)
			}
			return
		}
		pos, index = logWords.find(ln.text, pos+1)
	}
	if p.attentive > 0 && p.plain(&ln) && p.options.Trace != nil {
		p.options.Trace(ln.number)
	}
}

// dispatch reports whether the line was understood.
func (p *parser) dispatch(ln *line, pos int, w *word) bool {
	switch w.kind {
	case kindHeader:
		return p.headerLine(ln, pos, w)
	case kindSection:
		return p.sectionLine(ln, pos)
	case kindField:
		return p.fieldLine(ln, pos, w)
	case kindRow:
		return p.rowLine(ln, pos, w)
	case kindStackList:
		return p.stackListLine(ln, pos, w)
	case kindOverview, kindOutOfMemory, kindAsk, kindWhere, kindOverviewHead, kindHeapProbe:
		return p.memoryLine(ln, pos, w)
	case kindStartHead, kindSetting:
		return p.startLine(ln, pos, w)
	case kindProtocol:
		return p.protocolLine(ln, pos)
	case kindMimalloc:
		return p.mimallocHead(ln, pos)
	case kindWarning, kindWarningHint, kindWarningStack:
		return p.warningLine(ln, pos, w)
	case kindNative:
		return p.nativeLine(ln, pos, w)
	}
	p.fact(ln, pos, w)
	return false // such a line may hold another word as well
}

// plain handles a line without a word of its own behind a line of interest.
func (p *parser) plain(ln *line) bool {
	s := p.sources[sourceOf(ln.text)]
	if s == nil {
		s = p.sources[""]
	}
	if s != nil && s.table != nil && p.mimallocLine(s, ln) {
		return true
	}
	if s != nil && s.native != nil && p.nativePlain(s, ln) {
		return true
	}
	return p.blockPlain(ln)
}

// fact notes what says something about the run without being part of a report.
func (p *parser) fact(ln *line, pos int, w *word) {
	switch w.kind {
	case kindSwitch:
		if p.log.Facts.SwitchLine == 0 {
			p.log.Facts.SwitchLine = ln.number
		}
	case kindCrash:
		if len(p.log.Facts.Crashes) < crashesMax {
			p.log.Facts.Crashes = append(p.log.Facts.Crashes,
				LogLine{Line: ln.number, Text: printable(ln.text)})
		}
	case kindEngine:
		p.engineLine(ln, pos, w)
	}
}

// engineLine reads the version, such as 2021.3.5f1, behind its word.
func (p *parser) engineLine(ln *line, pos int, w *word) {
	rest := bytes.TrimLeft(ln.text[pos+len(w.text):], " :'\"")
	end := 0
	for end < len(rest) && end < 32 && (isLetterOrDigit(rest[end]) || rest[end] == '.') {
		end++
	}
	if end < 5 || !isDigit(rest[0]) {
		return
	}
	s := p.source(sourceOf(ln.text[:pos]))
	engine := &LogLine{Line: ln.number, Text: string(rest[:end])}
	// The Editor names its version twice; another version, or one behind a report, is another run.
	if s.run != nil && (s.taken || s.run.Engine != nil && s.run.Engine.Text != engine.Text) {
		p.renew(s)
	}
	s.engine = engine
	if s.run != nil && s.run.Engine == nil {
		s.run.Engine = engine
	}
}

// source returns the program of that name; from the sourcesMax-th on all share one.
func (p *parser) source(name string) *source {
	if s := p.sources[name]; s != nil {
		return s
	}
	if len(p.sources) >= sourcesMax {
		name = "further sources"
		if s := p.sources[name]; s != nil {
			return s
		}
	}
	s := &source{name: name}
	p.sources[name] = s
	return s
}

// current returns the run that lines of the source belong to now.
func (p *parser) current(s *source) *Report {
	if s.run == nil {
		s.run = &Report{Source: s.name, Engine: s.engine}
		s.taken = false
		p.keep(s.run)
	}
	return s.run
}

// renew makes the next line of the source start a new run.
func (p *parser) renew(s *source) {
	s.run, s.taken, s.oom, s.warning = nil, false, nil, nil
}

// keep stores a new run. Of very many the first and the last ones are kept.
func (p *parser) keep(run *Report) {
	if len(p.runs) == reportsMax {
		copy(p.runs[reportsMax/2:], p.runs[reportsMax/2+1:])
		p.runs = p.runs[:reportsMax-1]
		p.dropped++
	}
	p.runs = append(p.runs, run)
}

// finish closes what is open and hands the runs over.
func (p *parser) finish() {
	for len(p.blocks) > 0 {
		p.closeBlock(0)
	}
	for _, run := range p.runs {
		if run.empty() {
			continue
		}
		p.log.Reports = append(p.log.Reports, *run)
	}
	f := &p.log.Facts
	f.Bytes = p.lines.bytesTotal
	f.Lines = p.lines.lineCount()
	f.LongLines = p.lines.longLines
	f.OddBytes = p.lines.oddBytes
	f.Dropped = p.dropped
	f.Tail = p.lines.tail(beforeMax)
	for _, s := range p.sources {
		if s.engine != nil && (f.Engine == nil || f.Engine.Line < s.engine.Line) {
			f.Engine = s.engine
		}
	}
	if last := len(p.headers) - 1; last >= 0 && f.Lines-p.headers[last].line <= attention {
		f.HeaderAtEnd, f.Before = p.headers[last].line, p.headers[last].before
	}
}

func (r *Report) empty() bool {
	return r.Usage == nil && r.Start == nil && r.Leaks == nil && r.Mimalloc == nil &&
		r.Native == nil && len(r.OutOf) == 0 && len(r.Warnings) == 0
}
