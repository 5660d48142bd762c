package report

// match.go: the search for many words at once that lets a log of gigabytes be skipped quickly.
//
// It is the Wu-Manber scheme: a window as long as the shortest word slides over the text, the pair
// of bytes at the window's end says how far it may slide on without missing a word, and only where
// that is zero are the words with this pair compared.

// word is one text to look for, and what the parser does with a line that contains it.
type word struct {
	text string
	kind lineKind
	id   int // which field, setting or event, for the kinds that have several
}

// matcher finds the first of its words in a text.
// const: all fields are set by newMatcher.
type matcher struct {
	words  []word
	window int
	shift  [1 << 16]uint8
	bucket [1 << 16]uint8 // index into candidates of the words whose window ends with this pair
	// candidates[0] stays empty: a shift of zero always has a bucket above zero.
	candidates [][]int
}

const matchWindow = 8 // the shortest word the tables below hold

func newMatcher(words []word) *matcher {
	m := &matcher{words: words, window: matchWindow, candidates: make([][]int, 1)}
	for i := range m.shift {
		m.shift[i] = uint8(m.window - 1)
	}
	for i, w := range words {
		if len(w.text) < m.window {
			panic("BUG: the word " + w.text + " is shorter than the window")
		}
		for end := 1; end < m.window; end++ {
			pair := uint16(w.text[end-1]) | uint16(w.text[end])<<8
			if s := uint8(m.window - 1 - end); s < m.shift[pair] {
				m.shift[pair] = s
			}
		}
		last := uint16(w.text[m.window-2]) | uint16(w.text[m.window-1])<<8
		if m.bucket[last] == 0 {
			if len(m.candidates) > 255 {
				panic("BUG: more than 255 different word endings")
			}
			m.bucket[last] = uint8(len(m.candidates))
			m.candidates = append(m.candidates, nil)
		}
		b := m.bucket[last]
		m.candidates[b] = append(m.candidates[b], i)
	}
	return m
}

// find returns the position and the index of the first word in text at or after from, or -1, -1.
// When two words start at one place the longer one wins.
func (m *matcher) find(text []byte, from int) (pos, index int) {
	for i := from + m.window - 1; i < len(text); {
		pair := uint16(text[i-1]) | uint16(text[i])<<8
		if s := m.shift[pair]; s != 0 {
			i += int(s)
			continue
		}
		start := i - m.window + 1
		best := -1
		for _, c := range m.candidates[m.bucket[pair]] {
			w := m.words[c].text
			if len(w) <= len(text)-start && string(text[start:start+len(w)]) == w {
				if best < 0 || len(w) > len(m.words[best].text) {
					best = c
				}
			}
		}
		if best >= 0 {
			return start, best
		}
		i++
	}
	return -1, -1
}
