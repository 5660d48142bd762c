package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// lines.go: the line source. It holds one window of the log, so memory stays constant however long
// the log or a line of it is, and it steps over lines without a word of interest at memory speed.

const (
	windowBytes  = 1 << 20   // one window of the log
	historyBytes = 64 << 10  // kept in front of the read position, for "the lines before"
	lineBytesMax = 256 << 10 // longer lines are handed on in pieces of this size
	fillBytes    = 256 << 10 // read at least so much at a time
)

// line is one line of the log, or one piece of a line longer than lineBytesMax.
type line struct {
	text   []byte // without the line end; valid until the next call
	number int    // 1-based
	pos    int    // where the first word starts in text, -1: no word in it
	word   int    // index of that word
}

// lineSource reads lines from a text.
//
//	window[:next]    history: what was handed out or stepped over already
//	window[next:end] read from the text and not handed out
type lineSource struct {
	reader  io.Reader
	words   *matcher
	window  []byte
	next    int
	end     int
	number  int // the line that starts, or continues, at next
	partial bool
	begin   int // where the line handed out last begins, for before
	last    int // its number
	eof     bool
	err     error

	bytesTotal int64
	longLines  int
	oddBytes   int64 // among the first windowBytes: enough to tell a text from something else
}

func newLineSource(r io.Reader, words *matcher) *lineSource {
	return &lineSource{reader: r, words: words, window: make([]byte, windowBytes), number: 1}
}

// fill moves the history to the front and reads more text behind what is left. It reports whether
// new text came.
func (s *lineSource) fill() bool {
	if s.eof {
		return false
	}
	keep := min(s.next, historyBytes)
	drop := s.next - keep
	if drop > 0 {
		copy(s.window, s.window[drop:s.end])
		s.next -= drop
		s.begin = max(0, s.begin-drop)
		s.end -= drop
	}
	if s.end == len(s.window) {
		return false
	}
	// A pipe hands out small pieces; looking at each of them alone would look at a long line often.
	start := s.end
	for empty := 0; s.end-start < fillBytes && s.end < len(s.window) && !s.eof; {
		n, err := s.reader.Read(s.window[s.end:])
		s.bytesTotal += int64(n)
		if s.bytesTotal <= windowBytes {
			s.oddBytes += countOdd(s.window[s.end : s.end+n])
		}
		s.end += n
		if empty++; n > 0 {
			empty = 0
		}
		if err == nil && empty == 100 {
			err = io.ErrNoProgress
		}
		if err != nil {
			s.eof = true
			if !errors.Is(err, io.EOF) {
				s.err = fmt.Errorf("the log could be read only to line %d: %w", s.number, err)
			}
		}
	}
	return s.end > start
}

// countOdd counts control characters that no text has.
func countOdd(raw []byte) int64 {
	odd := int64(0)
	for _, c := range raw {
		if c < '\a' || c > '\r' && c < 0x1b {
			odd++
		}
	}
	return odd
}

// read returns the next line; with skip, the next line that contains a word.
func (s *lineSource) read(skip bool) (line, bool) {
	if skip {
		s.skip()
	}
	stop := -1
	for {
		rest := s.window[s.next:s.end]
		if i := bytes.IndexByte(rest[:min(len(rest), lineBytesMax)], '\n'); i >= 0 {
			stop = i
			break
		}
		if len(rest) >= lineBytesMax {
			stop = lineBytesMax
			break
		}
		if !s.fill() {
			if s.next == s.end {
				return line{}, false
			}
			stop = s.end - s.next
			break
		}
	}
	text := s.window[s.next : s.next+stop]
	result := line{text: bytes.TrimRight(text, "\r"), number: s.number}
	s.begin, s.last = s.next, s.number
	s.next += stop
	if s.next < s.end && s.window[s.next] == '\n' {
		s.next++
		s.number++
		s.partial = false
	} else if !s.partial && stop == lineBytesMax {
		s.partial = true
		s.longLines++
	}
	result.pos, result.word = s.words.find(result.text, 0)
	return result, true
}

// skip moves next to the start of the line with the next word, or as far as text was read.
func (s *lineSource) skip() {
	for {
		rest := s.window[s.next:s.end]
		at, _ := s.words.find(rest, 0)
		if at >= 0 {
			s.stepTo(at)
			return
		}
		// A word may begin in the last, still incomplete line: keep that line.
		cut := bytes.LastIndexByte(rest, '\n') + 1
		if cut == 0 && len(rest) > lineBytesMax {
			cut = len(rest) - matchWindow*16
			s.stepOverPiece(cut)
		} else {
			s.pass(cut)
		}
		if !s.fill() {
			return
		}
	}
}

// stepTo moves next to the start of the line that holds the byte at (counted from next). In a line
// of monstrous length it moves to a few KiB before the byte.
func (s *lineSource) stepTo(at int) {
	const reach = 4 << 10
	rest := s.window[s.next:s.end]
	start := bytes.LastIndexByte(rest[:at], '\n') + 1
	s.pass(start)
	if at-start > lineBytesMax/2 {
		s.stepOverPiece(at - start - reach)
	}
}

// pass steps over n bytes that end with a line end (or over none).
func (s *lineSource) pass(n int) {
	if n == 0 {
		return
	}
	s.number += bytes.Count(s.window[s.next:s.next+n], []byte{'\n'})
	s.partial = false
	s.next += n
}

// stepOverPiece steps over n bytes inside one line.
func (s *lineSource) stepOverPiece(n int) {
	if !s.partial {
		s.partial = true
		s.longLines++
	}
	s.next += n
}

// before returns up to count lines in front of the line handed out last, oldest first.
func (s *lineSource) before(count int) []LogLine {
	if s.begin == 0 || s.window[s.begin-1] != '\n' {
		return nil
	}
	return s.quote(s.begin-1, s.last-1, count)
}

// tail returns up to count of the last lines of the text.
func (s *lineSource) tail(count int) []LogLine {
	if s.end == 0 {
		return nil
	}
	stop := s.end
	if s.window[stop-1] == '\n' {
		stop--
	}
	return s.quote(stop, s.lineCount(), count)
}

// quote returns up to count lines, the last of which has the given number and ends at stop.
func (s *lineSource) quote(stop, number, count int) []LogLine {
	var lines []LogLine
	for len(lines) < count {
		start := bytes.LastIndexByte(s.window[:stop], '\n') + 1
		if start == 0 && number > 1 {
			break // the window may begin inside this line
		}
		lines = append(lines, LogLine{Line: number, Text: printable(s.window[start:stop])})
		if start == 0 {
			break
		}
		stop = start - 1
		number--
	}
	slices.Reverse(lines)
	return lines
}

// lineCount is the number of lines read so far.
func (s *lineSource) lineCount() int {
	if s.end > 0 && s.window[s.end-1] == '\n' {
		return s.number - 1
	}
	if s.bytesTotal == 0 {
		return 0
	}
	return s.number
}
