package report

import (
	"bytes"
	"math/rand"
	"testing"
)

// match_test.go: the search for words against a plain one.

// plainFind is what find must return, found the slow way.
func plainFind(m *matcher, text []byte, from int) (int, int) {
	for i := from; i < len(text); i++ {
		best := -1
		for index, w := range m.words {
			if bytes.HasPrefix(text[i:], []byte(w.text)) &&
				(best < 0 || len(w.text) > len(m.words[best].text)) {
				best = index
			}
		}
		if best >= 0 {
			return i, best
		}
	}
	return -1, -1
}

func TestTheFastSearchFindsWhatAPlainOneFinds(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	for round := range 300 {
		var text []byte
		for len(text) < 400 {
			w := logWords.words[random.Intn(len(logWords.words))].text
			switch random.Intn(4) {
			case 0:
				text = append(text, w...)
			case 1: // nearly a word
				text = append(text, w[:random.Intn(len(w))]...)
			case 2:
				text = append(text, w[random.Intn(len(w)):]...)
			default:
				for range random.Intn(20) {
					text = append(text, byte(random.Intn(256)))
				}
			}
		}
		for from := 0; from >= 0 && from < len(text); {
			pos, index := logWords.find(text, from)
			wantPos, wantIndex := plainFind(logWords, text, from)
			if pos != wantPos || index != wantIndex {
				t.Fatalf("round %d from %d: got %d, %d; want %d, %d", round, from, pos, index, wantPos,
					wantIndex)
			}
			if pos < 0 {
				break
			}
			from = pos + 1
		}
	}
}

func TestEveryWordIsFoundAtBothEndsOfAText(t *testing.T) {
	for i, w := range logWords.words {
		for _, text := range []string{w.text, "x" + w.text, w.text + "x", "\x00\xff" + w.text} {
			pos, index := logWords.find([]byte(text), 0)
			if pos < 0 || len(logWords.words[index].text) < len(w.text) {
				t.Errorf("word %d, %q, was not found in %q", i, w.text, text)
			}
		}
	}
	if pos, _ := logWords.find(nil, 0); pos != -1 {
		t.Error("something was found in nothing")
	}
}
