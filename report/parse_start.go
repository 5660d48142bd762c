package report

import (
	"bytes"
	"encoding/json"
)

// parse_start.go: the list of values in force, printed at start, and the ##utp line at the end.

const (
	settingsMax = 128
	labelsMax   = 1024
)

// startLine handles the heading of the list and its lines: `    "memorysetup-...=16777216"`.
func (p *parser) startLine(ln *line, pos int, w *word) bool {
	s := p.source(sourceOf(ln.text[:pos]))
	if w.kind == kindStartHead {
		if !bytes.Contains(ln.text[pos:], []byte("Configuration Parameters")) {
			return false
		}
		if s.run != nil && (s.taken || !s.run.empty() || s.run.Engine != nil) {
			p.renew(s)
			s.engine = nil
		}
		p.current(s).Start = &Settings{Line: ln.number}
		p.attentive = attention
		return true
	}
	if pos > 0 && ln.text[pos-1] == '-' {
		return false // a command line, which Unity does not list as in force
	}
	setting, ok := parseSetting(ln.text[pos:], ln.number)
	if !ok {
		return false
	}
	run := p.current(s)
	if run.Start == nil {
		run.Start = &Settings{}
	}
	// The list names every key once: a key that comes again is another program's start.
	for _, other := range run.Start.Values {
		if other.Key == setting.Key {
			p.renew(s)
			run = p.current(s)
			run.Start = &Settings{}
			break
		}
	}
	if len(run.Start.Values) < settingsMax {
		run.Start.Values = append(run.Start.Values, setting)
	}
	p.attentive = attention
	return true
}

func parseSetting(text []byte, number int) (Setting, bool) {
	key, value, ok := bytes.Cut(trimEnd(text), []byte("="))
	if !ok || len(key) > 100 {
		return Setting{}, false
	}
	for _, c := range key {
		if c != '-' && !isLetterOrDigit(c) {
			return Setting{}, false
		}
	}
	n, rest, ok := parseCount(bytes.TrimSpace(value), number)
	if !ok || len(rest) > 0 {
		return Setting{}, false
	}
	return Setting{Key: string(key), Value: n.N, Line: number}, true
}

// Get returns the value of a key, with or without "memorysetup-" in front.
func (s *Settings) Get(key string) (Setting, bool) {
	if s == nil {
		return Setting{}, false
	}
	for _, setting := range s.Values {
		if setting.Key == key || setting.Key == settingPrefix+key {
			return setting, true
		}
	}
	return Setting{}, false
}

// protocolLine handles "##utp:{"type":"MemoryLeaks",...}".
func (p *parser) protocolLine(ln *line, pos int) bool {
	var message struct {
		Type   string             `json:"type"`
		Phase  string             `json:"phase"`
		Total  int64              `json:"allocatedMemory"`
		Labels []map[string]int64 `json:"memoryLabels"`
	}
	text := ln.text[pos+len("##utp:"):]
	if !bytes.Contains(text[:min(len(text), 200)], []byte("MemoryLeaks")) {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(text)) // ignores what stands behind the object
	if err := decoder.Decode(&message); err != nil || message.Type != "MemoryLeaks" {
		return false
	}
	leaks := &Leaks{Line: ln.number, Phase: message.Phase, Total: message.Total}
	for _, label := range message.Labels {
		for name, size := range label {
			if len(leaks.Labels) < labelsMax {
				leaks.Labels = append(leaks.Labels, Leak{Label: printable([]byte(name)), Bytes: size})
			}
		}
	}
	p.current(p.source(sourceOf(ln.text[:pos]))).Leaks = leaks
	return true
}
