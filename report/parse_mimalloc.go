package report

import (
	"slices"
	"strconv"
	"strings"
)

// parse_mimalloc.go: the table that mimalloc prints. Its columns differ between versions, so they
// are read from the heading.

const (
	mimallocRowsMax   = 256
	mimallocNameWidth = 10 // names are set to the right in so many columns
)

// mimallocNames are those that are known even where a page has lost the blanks in front of them.
var mimallocNames = []string{"reserved", "committed", "reset", "purged", "touched", "segments",
	"pages", "mmaps", "commits", "threads", "searches", "numa nodes", "elapsed", "process"}

// mimallocTable is a table whose rows may still come.
type mimallocTable struct {
	table   *Mimalloc
	columns []string
	indent  int // bytes of decoration in front of each line
	last    int
}

// mimallocHead handles a heading: "heap stats:     peak       total     current       block".
func (p *parser) mimallocHead(ln *line, pos int) bool {
	text := string(trimEnd(ln.text))
	peak := strings.Index(text, " peak ")
	if peak < 0 || !strings.Contains(text, "total") {
		return false
	}
	s := p.source(sourceOf(ln.text[:min(pos, peak)]))
	run := p.current(s)
	indent := pos
	if pos > peak { // a heading of newer versions: " arenas          peak       total ..."
		name := strings.TrimRight(text[:peak], " ")
		indent = max(0, strings.LastIndexByte(name, ' '))
	}
	if run.Mimalloc == nil || s.table == nil {
		if run.Mimalloc != nil {
			p.renew(s)
			run = p.current(s)
		}
		run.Mimalloc = &Mimalloc{Line: ln.number}
	}
	s.table = &mimallocTable{table: run.Mimalloc, columns: strings.Fields(text[peak:]),
		indent: indent, last: ln.number}
	p.attentive = attention
	return true
}

// mimallocLine handles a row; a line that is none ends the table.
func (p *parser) mimallocLine(s *source, ln *line) bool {
	t := s.table
	if ln.number-t.last > 8 {
		s.table = nil
		return false
	}
	if len(ln.text) < t.indent {
		return false
	}
	text := string(trimEnd(ln.text[t.indent:]))
	if strings.IndexByte(text, ':') < mimallocNameWidth-1 &&
		!slices.Contains(mimallocNames, strings.TrimSpace(strings.SplitN(text, ":", 2)[0])) {
		return false
	}
	rows := 0
	for ; text != "" && len(t.table.Rows) < mimallocRowsMax; rows++ {
		row, rest, ok := t.row(text, ln.number)
		if !ok {
			break
		}
		t.table.Rows = append(t.table.Rows, row)
		text = rest
	}
	if rows == 0 {
		return false
	}
	t.last = ln.number
	p.attentive = attention
	return true
}

// row reads a row, and returns what follows it on the line: some pages print several in one.
func (t *mimallocTable) row(text string, number int) (row MimallocRow, rest string, ok bool) {
	name, rest, ok := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	if !ok || name == "" || len(name) > 24 {
		return row, "", false
	}
	row = MimallocRow{Name: name, Line: number}
	if name == "process" {
		row.Note = strings.TrimSpace(rest)
		row.Values = processValues(rest, number)
		return row, "", true
	}
	row.Values, rest = t.values(rest, number)
	for _, note := range [...]string{"not all freed!", "not all freed", "ok"} {
		if left, found := strings.CutPrefix(rest, note); found {
			row.Note, rest = note, strings.TrimSpace(left)
			break
		}
	}
	if !strings.Contains(rest, ":") {
		row.Note = strings.TrimSpace(row.Note + " " + rest)
		rest = ""
	}
	return row, rest, len(row.Values) > 0
}

// values reads the cells of a row, which stand under the headings from the left.
func (t *mimallocTable) values(text string, number int) (values []MimallocValue, rest string) {
	text = strings.TrimSpace(text)
	for column := 0; text != "" && column < len(t.columns); column++ {
		value, rest, ok := parseCell(text, number)
		if !ok {
			break
		}
		value.Column = t.columns[column]
		values = append(values, value)
		text = strings.TrimSpace(rest)
	}
	return values, text
}

// parseCell reads "1.0 GiB", "161", "4.2 K" or "1.151 s".
func parseCell(text string, number int) (value MimallocValue, rest string, ok bool) {
	negative := strings.HasPrefix(text, "-")
	body := strings.TrimPrefix(text, "-")
	if size, left, ok := parseSize([]byte(body), number); ok {
		value.Text = strings.TrimSpace(text[:len(text)-len(left)])
		if !negative {
			value.Size = size
		}
		return value, string(left), true
	}
	end := strings.IndexFunc(body, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(body)
	}
	n, err := strconv.ParseFloat(body[:end], 64)
	if err != nil {
		return value, text, false
	}
	left := body[end:]
	for _, suffix := range [...]struct {
		text  string
		scale float64
	}{{" Ki", 1 << 10}, {" K", 1e3}, {" M", 1e6}, {" G", 1e9}, {" s", 1}, {" avg", 1}} {
		if after, ok := strings.CutPrefix(left, suffix.text); ok && !startsWithLetter(after) {
			n, left = n*suffix.scale, after
			break
		}
	}
	value.N = n
	if negative {
		value.N = -n
	}
	value.Text = strings.TrimSpace(text[:len(text)-len(left)])
	return value, left, true
}

func startsWithLetter(text string) bool { return text != "" && isLetter(text[0]) }

// processValues reads the sizes of "user: 0.000 s, system: 0.000 s, faults: 0, rss: 66.3 MiB".
func processValues(text string, number int) []MimallocValue {
	var values []MimallocValue
	for _, part := range strings.Split(text, ",") {
		name, rest, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		if value, _, ok := parseCell(strings.TrimSpace(rest), number); ok {
			value.Column = strings.TrimSpace(name)
			values = append(values, value)
		}
	}
	return values
}

// Row returns the row of that name, or nil.
func (m *Mimalloc) Row(name string) *MimallocRow {
	for i := range m.Rows {
		if strings.Trim(m.Rows[i].Name, " -") == name {
			return &m.Rows[i]
		}
	}
	return nil
}

// Size returns the size in the column of the row, which is unknown when there is none.
func (m *Mimalloc) Size(row, column string) Size {
	if r := m.Row(row); r != nil {
		for _, value := range r.Values {
			if value.Column == column {
				return value.Size
			}
		}
	}
	return Size{}
}
