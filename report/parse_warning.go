package report

import (
	"bytes"
	"strings"
)

// parse_warning.go: the life-time messages of the temporary allocators, gathered by kind and
// subject, so that a log flooded by one of them stays one entry.

const (
	warningsMax      = 32   // kinds and subjects of one run
	stacksMax        = 20   // stack lines kept with one entry
	causesMax        = 1000 // messages of one entry whose surroundings are looked at
	warningReach     = 6    // what belongs to a message stands within so many lines
	warningBeforeMax = 4
)

// warningLine handles a message, the hint printed behind it, and the stacks a diagnostic run adds.
func (p *parser) warningLine(ln *line, pos int, w *word) bool {
	s := p.source(sourceOf(ln.text[:pos]))
	switch w.kind {
	case kindWarningHint:
		return s.hint(ln, w)
	case kindWarningStack:
		return s.stackLine(ln, pos, w)
	}
	m, ok := readWarning(ln.text[pos:], ln.text[:pos], w.id)
	if !ok {
		// The place in Unity's source, printed behind older messages, belongs to the message.
		if w.id == warnLinear && s.warning != nil && ln.number-s.lastWarn <= warningReach {
			s.lastWarn = ln.number
			return true
		}
		return false
	}
	// The pair "TLS Allocator ..." and "Internal: Stack allocator ..." is one event.
	twin := m.second && s.firstOfPair && s.warning != nil && s.warning.Kind == m.kind &&
		s.warning.Subject == m.subject && ln.number-s.lastWarn <= 2
	s.firstOfPair = m.kind == TempUnfreed && !m.second
	entry := p.entry(s, m)
	if entry == nil {
		return true
	}
	if !twin {
		p.count(s, entry, ln, pos, m)
	}
	s.warning, s.lastWarn = entry, ln.number
	return true
}

// message is one life-time message.
type message struct {
	kind    WarningKind
	subject string
	size    int64
	age     int64
	second  bool // has the wording of the second line of a pair
}

// readWarning recognises the wordings of all versions.
func readWarning(text, prefix []byte, family int) (m message, ok bool) {
	switch family {
	case warnJobTemp:
		switch {
		case bytes.Contains(text, []byte("remaining Allocations on the")) ||
			bytes.Contains(prefix, []byte("remaining Allocations on the")):
			m.kind = JobTempRemaining
		case bytes.Contains(text, []byte("has allocations that are more than")):
			m.kind = JobTempOld
		default:
			return m, false
		}
	case warnLifetime:
		if !bytes.Contains(prefix, []byte("deleting an allocation")) {
			return m, false
		}
		m.kind = JobTempLateFree
		if _, rest, found := bytes.Cut(text, []byte("(age = ")); found {
			age, _, _ := parseCount(rest, 1)
			m.age = age.N
		}
	case warnLinear:
		if !bytes.Contains(text, []byte("::Deallocate")) ||
			!bytes.Contains(bytes.ToLower(prefix), []byte("invalid")) {
			return m, false
		}
		m.kind = JobTempInvalid
	case warnUnfreed:
		name, found := lastAllocator(prefix)
		if !found {
			return m, false
		}
		m.kind, m.subject = TempUnfreed, name
		m.second = bytes.Contains(prefix, []byte("Stack allocator"))
		if _, rest, found := bytes.Cut(text, []byte("size ")); found {
			size, _, _ := parseCount(rest, 1)
			m.size = size.N
		}
	}
	return m, true
}

// lastAllocator finds the name in "underlying allocator ALLOC_TEMP_MAIN has" and in "Stack
// allocator ALLOC_TEMP_MAIN has". Thread names contain blanks.
func lastAllocator(prefix []byte) (string, bool) {
	i := bytes.LastIndex(prefix, []byte("ALLOC_"))
	if i < 0 {
		return "", false
	}
	name := strings.TrimSpace(printable(prefix[i:]))
	return strings.TrimSuffix(name, " has"), true
}

// entry returns the run's entry for messages like m, or nil when there are too many kinds.
func (p *parser) entry(s *source, m message) *Warning {
	run := p.current(s)
	if run.Warnings == nil {
		run.Warnings = make([]Warning, 0, warningsMax) // s.warning points into it
	}
	for i := range run.Warnings {
		if run.Warnings[i].Kind == m.kind && run.Warnings[i].Subject == m.subject {
			return &run.Warnings[i]
		}
	}
	if len(run.Warnings) == warningsMax {
		return nil
	}
	run.Warnings = append(run.Warnings, Warning{Kind: m.kind, Subject: m.subject})
	return &run.Warnings[len(run.Warnings)-1]
}

// count adds one message to its entry.
func (p *parser) count(s *source, w *Warning, ln *line, pos int, m message) {
	w.Count++
	seconds, timed := clock(ln.text[:pos])
	quoted := LogLine{Line: ln.number}
	if w.Count == 1 {
		quoted.Text = printable(ln.text)
		w.First = quoted
		w.FirstTime, w.Timed = seconds, timed
		w.Before = p.surroundings()
		w.SizeMin, w.AgeMin = m.size, m.age
	}
	quoted.Text = w.First.Text
	w.Last = quoted
	w.LastTime = seconds
	w.Timed = w.Timed && timed
	w.SizeMin, w.SizeMax = min(w.SizeMin, m.size), max(w.SizeMax, m.size)
	w.AgeMin, w.AgeMax = min(w.AgeMin, m.age), max(w.AgeMax, m.age)
	// In a flood the line in front is another message of the flood and says nothing.
	if w.Count > causesMax || ln.number-s.lastWarn <= 1 && s.lastWarn > 0 {
		return
	}
	near := w.Before
	if w.Count > 1 {
		near = p.surroundings()
	}
	if cause := causeIn(near); cause != "" {
		if w.Near == nil {
			w.Near = map[string]int64{}
		}
		w.Near[cause]++
	}
	p.markBenign(w, append(near, LogLine{Text: printable(ln.text)}))
}

// markBenign notes which of the user's known texts explains the message.
func (p *parser) markBenign(w *Warning, near []LogLine) {
	for _, known := range p.options.Benign {
		for _, quoted := range near {
			if known != "" && strings.Contains(quoted.Text, known) {
				w.Benign = known
			}
		}
	}
}

// surroundings returns the lines in front of a message that are not life-time messages themselves.
func (p *parser) surroundings() []LogLine {
	var kept []LogLine
	for _, quoted := range p.lines.before(3 * warningBeforeMax) {
		text := []byte(quoted.Text)
		if len(bytes.TrimSpace(text)) == 0 || bytes.HasPrefix(text, []byte("(Filename:")) {
			continue
		}
		if pos, index := logWords.find(text, 0); pos >= 0 {
			switch logWords.words[index].kind {
			case kindWarning, kindWarningHint, kindWarningStack:
				continue
			}
		}
		kept = append(kept, quoted)
	}
	return kept[max(0, len(kept)-warningBeforeMax):]
}

// causes are the events that make frames and real time drift apart, by what games log about them.
var causes = []struct {
	name  string
	words []string
}{
	{"saving", []string{"saving", "saved", "autosave", "persistence"}},
	{"pause or resume", []string{"onpause", "onresume", "paused", "resumed", "hmd", "focus",
		"surfacechanged", "surface changed", "headset"}},
	{"GPU read-back", []string{"readback", "read-back"}},
	{"training", []string{"mlagents", "ml-agents", "mean reward", "training", "episode"}},
	{"scene loading", []string{"loading", "loaded", "unloading", "unloadtime", "scene", "level"}},
}

// causeIn names the event that the lines tell of; the line nearest to the message counts most.
func causeIn(lines []LogLine) string {
	for i := len(lines) - 1; i >= 0; i-- {
		text := strings.ToLower(lines[i].Text)
		for _, cause := range causes {
			for _, w := range cause.words {
				if strings.Contains(text, w) {
					return cause.name
				}
			}
		}
	}
	return ""
}

// hint keeps the switch or define that a message tells the user to try.
func (s *source) hint(ln *line, w *word) bool {
	if s.warning == nil || ln.number-s.lastWarn > warningReach {
		return false
	}
	s.lastWarn = ln.number
	s.warning.Advice = strings.TrimPrefix(w.text, "enable the define: ")
	if w.kind == kindWarningHint && strings.HasPrefix(w.text, "diag-") {
		s.warning.Advice = "-" + w.text
	}
	return true
}

// stackLine keeps "Allocation of 366 bytes at ...", which a diagnostic run prints.
func (s *source) stackLine(ln *line, pos int, w *word) bool {
	if s.warning == nil || ln.number-s.lastWarn > 50 {
		return false
	}
	if _, rest, ok := parseCount(ln.text[pos+len(w.text):], 1); !ok ||
		!bytes.HasPrefix(rest, []byte(" bytes at")) {
		return false
	}
	s.lastWarn = ln.number
	if len(s.warning.Stacks) < stacksMax {
		s.warning.Stacks = append(s.warning.Stacks,
			LogLine{Line: ln.number, Text: printable(ln.text)})
	}
	return true
}
