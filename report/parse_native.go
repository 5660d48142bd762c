package report

// parse_native.go: Granary's own report.

// Native is Granary's own usage report.
type Native struct {
	Line int `json:"line"`
}

type nativeReport struct {
	report *Native
	last   int
}

func (p *parser) nativeLine(ln *line, pos int) bool { return false }

func (p *parser) nativePlain(s *source, ln *line) bool { return false }
