package report

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// decoration.go: what log systems put around a line. Nothing here needs to know all of them: a
// report line is found by its own words, whatever stands in front is decoration, and what may
// stand behind is listed.

const quoteBytesMax = 400 // longer lines are shortened when they are quoted

// printable turns a raw line into text that is safe to show: valid UTF-8, no control characters,
// of bounded length.
func printable(raw []byte) string {
	if plain(raw) {
		return string(raw)
	}
	cut := false
	if len(raw) > quoteBytesMax {
		raw, cut = raw[:quoteBytesMax], true
	}
	var b strings.Builder
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r == 0x1b:
			size = len(raw) - len(skipEscape(raw))
		case r == utf8.RuneError && size == 1, r < 0x20, r >= 0x7f && r < 0xa0,
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			// invalid, a control character, or one that reverses the reading direction
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
		raw = raw[size:]
	}
	text := strings.TrimRight(b.String(), " ")
	if cut {
		text += "..."
	}
	return text
}

// plain reports whether raw can be shown as it is.
func plain(raw []byte) bool {
	if len(raw) > quoteBytesMax || len(raw) > 0 && raw[len(raw)-1] == ' ' {
		return false
	}
	for _, c := range raw {
		if c < 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}

// skipEscape returns what follows a terminal escape sequence at the start of raw.
func skipEscape(raw []byte) []byte {
	if len(raw) < 2 || raw[1] != '[' {
		return raw[1:]
	}
	for i := 2; i < len(raw) && i < 16; i++ {
		if isLetter(raw[i]) {
			return raw[i+1:]
		}
	}
	return raw[1:]
}

var endings = [][]byte{
	[]byte(`\n`), []byte(`\r`), []byte("<br>"), []byte("<br/>"), []byte("<br />"),
	[]byte("\x1b[0m"), []byte("\x1b[m"), []byte("\x1b[K"), []byte("</span>"), []byte("</pre>"),
	[]byte("</code>"), []byte("</p>"), []byte("</div>"),
}

// trimEnd removes what log systems and pasting put behind a line.
func trimEnd(text []byte) []byte {
	for {
		before := len(text)
		text = bytes.TrimRight(text, " \t\r\n\"'`,")
		for _, ending := range endings {
			text = bytes.TrimSuffix(text, ending)
		}
		if len(text) == before {
			return text
		}
	}
}

// origin tells lines of several programs in one log apart.
type origin struct {
	source string // container, unit or process, where the decoration names it
	shape  string // the letters of the decoration, which the lines of one program share
}

// originOf works out where the line with this text in front of its first word came from.
func originOf(prefix []byte) origin {
	prefix = trimPrefix(prefix)
	if len(prefix) == 0 {
		return origin{}
	}
	return origin{source: sourceOf(prefix), shape: shapeOf(prefix)}
}

// trimPrefix drops the indentation, and what is too far away to be decoration.
func trimPrefix(prefix []byte) []byte {
	prefix = bytes.TrimRight(prefix, " \t")
	return prefix[max(0, len(prefix)-256):]
}

// shapeOf keeps the letters: time stamps and thread numbers differ from line to line.
func shapeOf(prefix []byte) string {
	var letters [48]byte
	n := 0
	for i := 0; i < len(prefix) && n < len(letters); i++ {
		if prefix[i] == 0x1b {
			i = len(prefix) - len(skipEscape(prefix[i:])) - 1
			continue
		}
		if isLetter(prefix[i]) {
			letters[n] = prefix[i]
			n++
		}
	}
	return string(letters[:n])
}

// sourceOf recognises the decorations that name a program: docker compose, kubectl, syslog and
// journald, and Android's logcat in its usual formats.
func sourceOf(prefix []byte) string {
	if prefix = trimPrefix(prefix); len(prefix) == 0 {
		return ""
	}
	if bar := bytes.IndexByte(prefix, '|'); bar > 0 {
		name := bytes.TrimSpace(prefix[:bar])
		if len(name) > 0 && len(name) <= 64 && bytes.IndexByte(name, ' ') < 0 {
			return printable(name)
		}
	}
	if bytes.HasPrefix(prefix, []byte("[pod/")) {
		if stop := bytes.IndexByte(prefix, ']'); stop > 0 {
			return printable(prefix[1:stop])
		}
	}
	if stop := bytes.Index(prefix, []byte("]:")); stop > 0 {
		open := bytes.LastIndexByte(prefix[:stop], '[')
		if open > 0 && allDigits(prefix[open+1:stop]) {
			start := bytes.LastIndexByte(prefix[:open], ' ') + 1
			return printable(prefix[start : stop+1])
		}
	}
	// date, time, pid, tid, level, tag
	var parts [5][]byte
	rest := prefix
	for i := range parts {
		rest = bytes.TrimLeft(rest, " ")
		stop := bytes.IndexByte(rest, ' ')
		if stop < 0 {
			stop = len(rest)
		}
		parts[i], rest = rest[:stop], rest[stop:]
	}
	if len(parts[4]) > 0 && bytes.IndexByte(parts[1], ':') > 0 && allDigits(parts[2]) &&
		allDigits(parts[3]) {
		return "pid " + string(parts[2])
	}
	return ""
}

func allDigits(text []byte) bool {
	for _, c := range text {
		if !isDigit(c) {
			return false
		}
	}
	return len(text) > 0
}

// clock finds a time in a decoration: hh:mm:ss with a fraction, or seconds at the very start.
func clock(prefix []byte) (seconds float64, ok bool) {
	for i := 2; i+5 < len(prefix); i++ {
		if prefix[i] != ':' || prefix[i+3] != ':' || !isDigit(prefix[i-1]) {
			continue
		}
		if !allDigits(prefix[i+1:i+3]) || !allDigits(prefix[i+4:i+6]) {
			continue
		}
		hours := float64(prefix[i-1] - '0')
		if isDigit(prefix[i-2]) {
			hours += 10 * float64(prefix[i-2]-'0')
		}
		seconds = hours*3600 + twoDigits(prefix[i+1:])*60 + twoDigits(prefix[i+4:])
		return seconds + fraction(prefix[i+6:]), true
	}
	digits := 0
	for digits < len(prefix) && isDigit(prefix[digits]) {
		digits++
	}
	if digits == 0 || digits > 9 || digits+2 >= len(prefix) || prefix[digits] != '.' {
		return 0, false
	}
	for _, c := range prefix[:digits] {
		seconds = seconds*10 + float64(c-'0')
	}
	part := fraction(prefix[digits:])
	return seconds + part, isDigit(prefix[digits+1])
}

func twoDigits(text []byte) float64 { return 10*float64(text[0]-'0') + float64(text[1]-'0') }

// fraction reads ".123" or ",123".
func fraction(text []byte) float64 {
	if len(text) < 2 || (text[0] != '.' && text[0] != ',') {
		return 0
	}
	value, scale := 0.0, 0.1
	for _, c := range text[1:min(len(text), 10)] {
		if !isDigit(c) {
			break
		}
		value += float64(c-'0') * scale
		scale /= 10
	}
	return value
}

// isGap recognises the marks people put where they left lines out: "...", "[...]", "<snip>".
func isGap(text []byte) bool {
	text = bytes.TrimLeft(text, " \t#/-=*[({<>")
	for _, mark := range [...]string{"...", "\u2026", "snip", "truncated", "lines omitted", "cut"} {
		if len(text) >= len(mark) && strings.EqualFold(string(text[:len(mark)]), mark) {
			rest := text[len(mark):]
			return len(rest) == 0 || !isLetterOrDigit(rest[0])
		}
	}
	return false
}
