package report

import (
	"bytes"
	"strconv"
	"strings"
)

// parse_memory.go: the block printed when a request fails and the program gives up.

const (
	outOfMemoryMax  = 16 // events kept of one run
	overviewRowsMax = 64
	memoryReach     = 40 // lines of one event lie within so many lines of each other
)

// memoryLine handles every line of an out-of-memory block.
func (p *parser) memoryLine(ln *line, pos int, w *word) bool {
	s := p.source(sourceOf(ln.text[:pos]))
	rest := trimEnd(ln.text[pos+len(w.text):])
	switch w.kind {
	case kindHeapProbe:
		if bytes.HasPrefix(rest, []byte("allocation probe ")) {
			s.probes++
			return true
		}
		return bytes.HasPrefix(rest, []byte("out of memory"))
	case kindOutOfMemory:
		p.newOutOfMemory(s, ln.number)
		return true
	case kindAsk:
		return p.askLine(s, rest, ln.number)
	}
	o := s.oom
	if o == nil || ln.number-o.last() > memoryReach {
		return false
	}
	switch w.kind {
	case kindWhere:
		// "Allocation happend at: Line:559 in C:\..." (newer versions: "happened")
		if _, where, ok := bytes.Cut(rest, []byte("at: ")); ok {
			o.Where = printable(where)
			return true
		}
		return false
	case kindOverviewHead:
		return true
	}
	row, ok := parseOverview(trimEnd(ln.text[pos+len("[ ALLOC_"):]), ln.number)
	if ok && len(o.Overview) < overviewRowsMax {
		o.Overview = append(o.Overview, row)
	}
	return ok
}

// last is the line of the event seen last.
func (o *OutOfMemory) last() int {
	if n := len(o.Overview); n > 0 {
		return o.Overview[n-1].Line
	}
	return max(o.Line, o.AskLine)
}

func (p *parser) newOutOfMemory(s *source, number int) {
	run := p.current(s)
	event := OutOfMemory{Line: number, Probes: s.probes}
	s.probes = 0
	if len(run.OutOf) == outOfMemoryMax {
		run.OutOfMore++
		s.oom = &event // its lines are read and forgotten
		return
	}
	if run.OutOf == nil {
		run.OutOf = make([]OutOfMemory, 0, outOfMemoryMax) // s.oom points into it
	}
	run.OutOf = append(run.OutOf, event)
	s.oom = &run.OutOf[len(run.OutOf)-1]
}

// askLine reads "67108864B with 16 alignment. MemoryLabel: DynamicArray".
func (p *parser) askLine(s *source, rest []byte, number int) bool {
	amount, rest, ok := bytes.Cut(rest, []byte("B with "))
	if !ok {
		return false
	}
	requested, err := strconv.ParseUint(string(amount), 10, 64)
	if err != nil {
		return false
	}
	align, rest, ok := parseCount(rest, number)
	if !ok {
		return false
	}
	if s.oom == nil || s.oom.AskLine != 0 || number-s.oom.Line > memoryReach {
		p.newOutOfMemory(s, number)
	}
	s.oom.Requested, s.oom.AskLine, s.oom.Align = requested, number, align.N
	if _, label, ok := bytes.Cut(rest, []byte("MemoryLabel: ")); ok {
		s.oom.Label = printable(label)
	}
	return true
}

// parseOverview reads "DEFAULT ] used: 26685748B | peak: 0B | reserved: 38797312B", which follows
// "[ ALLOC_".
func parseOverview(rest []byte, number int) (Overview, bool) {
	name, rest, ok := bytes.Cut(rest, []byte("]"))
	if !ok || len(name) > 100 {
		return Overview{}, false
	}
	row := Overview{Name: "ALLOC_" + strings.TrimSpace(printable(name)), Line: number}
	for _, cell := range bytes.Split(rest, []byte("|")) {
		key, value, ok := bytes.Cut(cell, []byte(":"))
		if !ok {
			return row, false
		}
		value = bytes.TrimSuffix(bytes.TrimSpace(value), []byte("B"))
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return row, false
		}
		switch string(bytes.TrimSpace(key)) {
		case "used":
			row.Used = n
		case "peak":
			row.Peak = n
		case "reserved":
			row.Reserved = n
		}
	}
	return row, true
}
