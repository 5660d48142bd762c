package report

// match.go: the search for many words at once that lets a log of gigabytes be skipped quickly.
//
// It is the Wu-Manber scheme: a window as long as the shortest word slides over the text, the three
// bytes at the window's end say how far it may slide on without missing a word, and only where that
// is zero are the words with these bytes compared.

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
	shift  [hashSize]uint8
	bucket [hashSize]uint8 // index into candidates of the words whose window ends with this hash
	// candidates[0] stays empty: a shift of zero always has a bucket above zero.
	candidates [][]int
}

const (
	matchWindow = 9       // the shortest word
	hashSize    = 1 << 15 // the two tables together stay in the first-level cache
)

// hash3 mixes three bytes. Two would occur in too many ordinary words.
func hash3(a, b, c byte) uint32 {
	return (uint32(a) ^ uint32(b)<<5 ^ uint32(c)<<10) & (hashSize - 1)
}

func newMatcher(words []word) *matcher {
	m := &matcher{words: words, candidates: make([][]int, 1)}
	for i := range m.shift {
		m.shift[i] = matchWindow - 2
	}
	for i, w := range words {
		if len(w.text) < matchWindow {
			panic("BUG: the word " + w.text + " is shorter than the window")
		}
		for end := 2; end < matchWindow; end++ {
			h := hash3(w.text[end-2], w.text[end-1], w.text[end])
			m.shift[h] = min(m.shift[h], uint8(matchWindow-1-end))
		}
		last := hash3(w.text[matchWindow-3], w.text[matchWindow-2], w.text[matchWindow-1])
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
	for i := from + matchWindow - 1; i < len(text); {
		three := text[i-2 : i+1 : i+1]
		h := hash3(three[0], three[1], three[2])
		if s := m.shift[h]; s != 0 {
			i += int(s)
			continue
		}
		start := i - matchWindow + 1
		if best := m.longest(text[start:], m.candidates[m.bucket[h]]); best >= 0 {
			return start, best
		}
		i++
	}
	return -1, -1
}

// longest returns the longest of the candidates that the text starts with, or -1.
func (m *matcher) longest(text []byte, candidates []int) int {
	best := -1
	for _, c := range candidates {
		w := m.words[c].text
		if len(w) <= len(text) && string(text[:len(w)]) == w &&
			(best < 0 || len(w) > len(m.words[best].text)) {
			best = c
		}
	}
	return best
}
