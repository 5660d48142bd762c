package preload

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Kind is what values an option takes.
type Kind int

const (
	Switch Kind = iota // a flag without a value; the variable is Option.On
	Choice             // one of Option.Choices
	Size               // bytes, or a number with K, M or G
	Path               // a file
)

// Option is one thing that can be set for a program on Granary.
type Option struct {
	Flag    string // of `granary run`, "" if there is only the variable
	Env     string // "" if there is only the flag
	Kind    Kind
	On      string   // the value of Env that a Switch sets
	Choices []string // of a Choice
	Default string   // what holds when nothing is set
	Run     string   // what `granary run` sets when nothing is set, "" for nothing
	Help    string
}

// Options is the one table of all options. The flags of `granary run`, `granary help environment`
// and docs/run.md are made from it.
var Options = []Option{
	{Flag: "report", Env: "GRANARY_REPORT", Kind: Choice, Choices: []string{"text", "json", "none"},
		Default: "none", Run: "text",
		Help: "usage report at the end of each process, on stderr"},
	{Flag: "report-file", Env: "GRANARY_REPORT_FILE", Kind: Path,
		Help: "append the usage reports to this file; %p becomes the pid"},
	{Flag: "debug", Env: "GRANARY_DEBUG_ALLOC", Kind: Switch, On: "1",
		Help: "find double and invalid frees, writes after free, overruns and leaks"},
	{Flag: "stats", Env: "GRANARY_DEBUG_ALLOC_STATS", Kind: Switch, On: "1",
		Help: "count what is never freed, and say so at the end"},
	{Flag: "trace-release", Env: "GRANARY_DEBUG_ALLOC_RELEASE", Kind: Switch, On: "1",
		Help: "a line to stderr whenever memory is given back to the system"},
	{Flag: "no-release", Env: "GRANARY_ALLOC_RELEASE", Kind: Switch, On: "0",
		Help: "never give memory back to the system"},
	{Flag: "system", Env: "GRANARY_ALLOC_SYSTEM", Kind: Switch, On: "1",
		Help: "leave everything to the system allocator (for valgrind and others)"},
	{Env: "GRANARY_ALLOC_NORMAL", Kind: Choice, Choices: []string{"system"},
		Help: "leave blocks above 32 KiB to the system allocator alone"},
	{Flag: "limit", Env: "GRANARY_ALLOC_LIMIT", Kind: Size,
		Help: "refuse to hand out more than this much memory: NULL and ENOMEM"},
	{Env: "GRANARY_RANGE", Kind: Size,
		Help: "reserve this much address space for small blocks, not 16G"},
	{Flag: "no-children", Env: "GRANARY_CHILDREN", Kind: Switch, On: "0",
		Help: "run only this program on Granary, not those that it starts"},
	{Flag: "verbose", Env: "GRANARY_VERBOSE", Kind: Switch, On: "1",
		Help: "a line to stderr when the library starts in a process"},
	{Flag: "lib", Env: "GRANARY_LIB", Kind: Path,
		Help: "use this libgranary.so, not the one that came with the command"},
	{Flag: "gc", Kind: Switch, On: "1",
		Help: "if it uses libgc (bdwgc), run it on Granary's collector"},
	{Flag: "force", Kind: Switch, On: "1",
		Help: "run the program even if it cannot run on Granary"},
}

// Value is what the variable of the option gets when its flag is given text. The error says why the
// text is wrong, without repeating it.
func (o Option) Value(text string) (string, error) {
	switch o.Kind {
	case Choice:
		for _, choice := range o.Choices {
			if text == choice {
				return text, nil
			}
		}
		return "", fmt.Errorf("use %s", list(o.Choices, "or"))
	case Size:
		bytes, err := ParseSize(text)
		if err != nil {
			return "", err
		}
		return strconv.FormatUint(bytes, 10), nil
	case Path:
		if text == "" {
			return "", fmt.Errorf("name a file")
		}
	}
	return text, nil
}

// Values says in a few words what values the variable of the option takes.
func (o Option) Values() string {
	switch o.Kind {
	case Choice:
		return strings.Join(o.Choices, "|")
	case Size:
		return "SIZE"
	case Path:
		return "PATH"
	}
	return o.On
}

// list joins words as a sentence does.
func list(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// ParseSize reads a number of bytes: 1048576, 512K, 64M, 2G; KiB, MiB and GiB are the same.
func ParseSize(text string) (uint64, error) {
	number, unit := text, ""
	if at := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); at >= 0 {
		number, unit = text[:at], strings.ToUpper(strings.TrimSpace(text[at:]))
	}
	shift, known := map[string]int{"": 0, "B": 0, "K": 10, "KIB": 10, "M": 20, "MIB": 20,
		"G": 30, "GIB": 30, "T": 40, "TIB": 40}[unit]
	value, err := strconv.ParseUint(number, 10, 64)
	if err != nil || !known {
		return 0, fmt.Errorf("not a size; use a number of bytes, or one with K, M or G, such as 512M")
	}
	if value == 0 {
		return 0, fmt.Errorf("must be more than 0; leave it out for no limit")
	}
	if bits.Len64(value)+shift > 63 {
		return 0, fmt.Errorf("too large")
	}
	return value << shift, nil
}
