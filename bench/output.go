package bench

// Reading what a workload prints; bench.h describes the lines.

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Printed is what a workload said about its run.
type Printed struct {
	Seconds  float64
	Checksum string
	Threads  int
	Moments  []Moment
}

// Moment is resident memory at a moment that the workload named.
type Moment struct {
	Name string
	KiB  int64
}

var momentLine = regexp.MustCompile(`^rss_([a-z0-9_]+)_kib$`)

// ParseOutput reads the output of a workload. All of seconds, checksum and threads must be there.
func ParseOutput(text string) (Printed, error) {
	var printed Printed
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return printed, fmt.Errorf("the line %q is not NAME=VALUE", line)
		}
		if seen[name] {
			return printed, fmt.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if err := printed.set(name, value); err != nil {
			return printed, fmt.Errorf("the line %q: %w", line, err)
		}
	}
	for _, name := range []string{"seconds", "checksum", "threads"} {
		if !seen[name] {
			return printed, fmt.Errorf("the output has no line %s=", name)
		}
	}
	return printed, nil
}

func (printed *Printed) set(name, value string) error {
	var err error
	switch name {
	case "seconds":
		printed.Seconds, err = strconv.ParseFloat(value, 64)
		if err == nil && !(printed.Seconds >= 0) {
			err = errors.New("a time must be a number and not negative")
		}
	case "checksum":
		printed.Checksum = value
		_, err = strconv.ParseUint(value, 16, 64)
	case "threads":
		printed.Threads, err = strconv.Atoi(value)
		if err == nil && printed.Threads < 1 {
			err = errors.New("at least one thread must have run")
		}
	default:
		match := momentLine.FindStringSubmatch(name)
		if match == nil {
			return errors.New("the name is not known")
		}
		var kib int64
		kib, err = strconv.ParseInt(value, 10, 64)
		printed.Moments = append(printed.Moments, Moment{Name: match[1], KiB: kib})
	}
	return err
}
