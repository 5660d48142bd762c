package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// number.go: the two kinds of numbers a report is made of. Both remember the line they stood in,
// and a size remembers how exactly it was printed.

// Size is a printed amount of memory. A zero Line means that the log does not hold the value.
type Size struct {
	Bytes  int64 // the printed value
	Margin int64 // the true value lies within Bytes-Margin and Bytes+Margin
	Line   int   // 1-based line of the log

	unit     uint8 // index into units
	decimals uint8 // digits printed behind the point
}

// Count is a printed number of things. A zero Line means that the log does not hold the value.
type Count struct {
	N    int64
	Line int
}

var units = [...]struct {
	name  string
	bytes int64
}{{"B", 1}, {"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}}

// Known reports whether the log holds the value.
func (s Size) Known() bool { return s.Line != 0 }

// Known reports whether the log holds the value.
func (c Count) Known() bool { return c.Line != 0 }

// Min is the smallest value that is printed like this one.
func (s Size) Min() int64 { return max(0, s.Bytes-s.Margin) }

// Max is the largest value that is printed like this one.
func (s Size) Max() int64 { return s.Bytes + s.Margin }

// String prints the size as the log did; large exact ones in larger units.
func (s Size) String() string {
	if !s.Known() {
		return "unknown"
	}
	if s.unit == 0 && s.Bytes >= 1<<10 {
		return FormatBytes(s.Bytes)
	}
	unit := units[s.unit]
	value := float64(s.Bytes) / float64(unit.bytes)
	return strconv.FormatFloat(value, 'f', int(s.decimals), 64) + " " + unit.name
}

func (c Count) String() string {
	if !c.Known() {
		return "unknown"
	}
	return Thousands(c.N)
}

// MarshalJSON writes null for a value that the log does not hold.
func (s Size) MarshalJSON() ([]byte, error) {
	if !s.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(struct {
		Bytes  int64  `json:"bytes"`
		Margin int64  `json:"margin"`
		Text   string `json:"text"`
		Line   int    `json:"line"`
	}{s.Bytes, s.Margin, s.String(), s.Line})
}

// MarshalJSON writes null for a value that the log does not hold.
func (c Count) MarshalJSON() ([]byte, error) {
	if !c.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(struct {
		N    int64 `json:"n"`
		Line int   `json:"line"`
	}{c.N, c.Line})
}

// parseSize reads a size at the start of text, such as "16.0 MB", "54 B" or "98,6 KB", and returns
// what stands behind it.
func parseSize(text []byte, line int) (size Size, rest []byte, ok bool) {
	i, point := 0, -1
	for i < len(text) && (isDigit(text[i]) || ((text[i] == '.' || text[i] == ',') && point < 0)) {
		if !isDigit(text[i]) {
			point = i
		}
		i++
	}
	if i == 0 || i > 20 || point == 0 || point == i-1 {
		return Size{}, text, false
	}
	number := string(text[:i])
	if point >= 0 {
		number = number[:point] + "." + number[point+1:]
		size.decimals = uint8(i - point - 1)
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return Size{}, text, false
	}
	for i < len(text) && text[i] == ' ' {
		i++
	}
	unit, length := parseUnit(text[i:])
	if length == 0 {
		return Size{}, text, false
	}
	scale := float64(units[unit].bytes)
	if value*scale >= math.MaxInt64/2 {
		return Size{}, text, false
	}
	size.unit = uint8(unit)
	size.Bytes = int64(math.Round(value * scale))
	if unit > 0 {
		size.Margin = int64(math.Ceil(scale * math.Pow(10, -float64(size.decimals)) / 2))
	}
	size.Line = line
	return size, text[i+length:], true
}

// parseUnit reads B, KB, KiB and so on in any case; length is 0 when there is none.
func parseUnit(text []byte) (unit, length int) {
	if len(text) == 0 {
		return 0, 0
	}
	if text[0] == 'B' || text[0] == 'b' {
		unit, length = 0, 1
	} else {
		unit = strings.IndexByte("\x00KMGT", text[0]&^0x20)
		if unit < 1 || len(text) < 2 {
			return 0, 0
		}
		length = 2
		if text[1] == 'i' && len(text) > 2 {
			length = 3
		}
		if text[length-1]&^0x20 != 'B' {
			return 0, 0
		}
	}
	if length < len(text) && isLetterOrDigit(text[length]) {
		return 0, 0
	}
	return unit, length
}

// parseCount reads a whole number at the start of text and returns what stands behind it.
func parseCount(text []byte, line int) (count Count, rest []byte, ok bool) {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == 0 || i > 19 {
		return Count{}, text, false
	}
	n, err := strconv.ParseInt(string(text[:i]), 10, 64)
	if err != nil {
		return Count{}, text, false
	}
	return Count{N: n, Line: line}, text[i:], true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isLetterOrDigit(c byte) bool { return isDigit(c) || isLetter(c) }

// FormatBytes prints an exact number of bytes for people: "54 B", "36.0 KB", "1.70 GB".
func FormatBytes(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%s%d B", sign, n)
	case n < 1<<20:
		return sign + trimPoint(float64(n)/(1<<10)) + " KB"
	case n < 1<<30:
		return sign + trimPoint(float64(n)/(1<<20)) + " MB"
	}
	return fmt.Sprintf("%s%.2f GB", sign, float64(n)/(1<<30))
}

// trimPoint prints one digit behind the point, and none for a whole number.
func trimPoint(value float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0")
}

// Thousands prints a number with commas between groups of three digits.
func Thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// ParseBytes reads a size as a user types it: "1GB", "512 MB", "262144".
func ParseBytes(text string) (int64, error) {
	trimmed := strings.TrimSpace(text)
	if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	if len(trimmed) > 1 && isDigit(trimmed[len(trimmed)-2]) {
		if strings.ContainsRune("KMGTkmgt", rune(trimmed[len(trimmed)-1])) {
			trimmed += "B"
		}
	}
	size, rest, ok := parseSize([]byte(trimmed), 1)
	if !ok || len(rest) > 0 {
		return 0, fmt.Errorf("%q is not a size: write 1GB, 512MB, 256KB or a number of bytes", text)
	}
	return size.Bytes, nil
}

// powerOfTwoAtLeast returns the smallest power of two that is not below n.
func powerOfTwoAtLeast(n int64) int64 {
	p := int64(1)
	for p < n && p < 1<<62 {
		p <<= 1
	}
	return p
}
