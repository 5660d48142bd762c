package ctest

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Header is what the head of a test file asks for. The directives are described in doc.go.
type Header struct {
	Covers     []int
	Env        []string
	Args       string
	Run        string
	Also       []string
	Expect     []*regexp.Regexp
	ExpectOut  []*regexp.Regexp
	Refuse     []*regexp.Regexp
	ExpectExit int
	Signal     string
	CFlags     []string
	Link       string
	Plugins    []Plugin
	Library    string
	Needs      []string
	Timeout    time.Duration
	Sanitize   bool
	Only       string
}

// Plugin is a shared object that a test loads or preloads.
type Plugin struct {
	Source string // file name, in the folder of the test
	Flags  []string
}

const timeoutDefault = 240 * time.Second

var (
	directiveLine = regexp.MustCompile(`^(?://|#)\s?([a-z-]+):(?:\s+(.*))?$`)
	commentLine   = regexp.MustCompile(`^(?://|#(?:$|[!\s]))`)
)

// ParseHeader reads the head of the file at path.
func ParseHeader(path string) (*Header, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	header := &Header{Timeout: timeoutDefault, Library: "preload"}
	scanner := bufio.NewScanner(file)
	for number := 1; scanner.Scan(); number++ {
		line := scanner.Text()
		if !commentLine.MatchString(line) {
			break
		}
		match := directiveLine.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		if err := header.set(match[1], strings.TrimSpace(match[2])); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	return header, scanner.Err()
}

// set stores one directive.
func (h *Header) set(key, value string) error {
	switch key {
	case "env":
		h.Env = append(h.Env, strings.Fields(value)...)
	case "args":
		h.Args = value
	case "run":
		h.Run = value
	case "also":
		h.Also = append(h.Also, value)
	case "signal":
		h.Signal = value
	case "cflags":
		h.CFlags = append(h.CFlags, strings.Fields(value)...)
	case "link":
		h.Link = value
	case "plugin":
		words := strings.Fields(value)
		if len(words) == 0 {
			return fmt.Errorf("plugin: names no file")
		}
		h.Plugins = append(h.Plugins, Plugin{words[0], words[1:]})
	case "needs":
		h.Needs = append(h.Needs, strings.Fields(value)...)
	case "sanitize":
		h.Sanitize = true
	case "library":
		return setWord(&h.Library, value, "preload", "none", "gc")
	case "only":
		return setWord(&h.Only, value, "granary")
	case "expect", "expect-out", "refuse":
		return h.setPattern(key, value)
	case "covers", "expect-exit", "timeout":
		return h.setNumbers(key, value)
	default:
		return fmt.Errorf("unknown directive %q", key)
	}
	return nil
}

func setWord(target *string, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return fmt.Errorf("%q is not one of %s", value, strings.Join(allowed, ", "))
	}
	*target = value
	return nil
}

func (h *Header) setPattern(key, value string) error {
	pattern, err := regexp.Compile(strings.ReplaceAll(value, "{ptr}", "0x[0-9a-f]+"))
	if err != nil {
		return err
	}
	switch key {
	case "expect":
		h.Expect = append(h.Expect, pattern)
	case "expect-out":
		h.ExpectOut = append(h.ExpectOut, pattern)
	case "refuse":
		h.Refuse = append(h.Refuse, pattern)
	}
	return nil
}

func (h *Header) setNumbers(key, value string) error {
	words := strings.Fields(value)
	if len(words) == 0 || (key != "covers" && len(words) > 1) {
		return fmt.Errorf("%s: wants a number, not %q", key, value)
	}
	for _, word := range words {
		number, err := strconv.Atoi(word)
		if err != nil || number < 0 {
			return fmt.Errorf("%s: %q is not a number", key, word)
		}
		switch key {
		case "covers":
			h.Covers = append(h.Covers, number)
		case "expect-exit":
			h.ExpectExit = number
		case "timeout":
			h.Timeout = time.Duration(number) * time.Second
		}
	}
	return nil
}
