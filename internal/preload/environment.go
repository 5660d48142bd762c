package preload

import (
	"path/filepath"
	"strings"
)

// Setting is what becomes of one variable.
type Setting struct {
	Name  string
	Value string
	Unset bool
}

// Environment is base with the library first in LD_PRELOAD and the settings made. What LD_PRELOAD
// has already is kept, except another copy of the library.
func Environment(base []string, library string, settings []Setting) []string {
	const preload = "LD_PRELOAD"
	libraries := []string{library}
	for _, entry := range base {
		value, found := strings.CutPrefix(entry, preload+"=")
		if !found {
			continue
		}
		for _, other := range strings.FieldsFunc(value, isSeparator) {
			if filepath.Base(other) != LibraryName && other != library {
				libraries = append(libraries, other)
			}
		}
	}
	settings = append([]Setting{{Name: preload, Value: strings.Join(libraries, ":")}}, settings...)
	var environment []string
	for _, entry := range base {
		if !isSet(settings, entry) {
			environment = append(environment, entry)
		}
	}
	for _, setting := range settings {
		if !setting.Unset {
			environment = append(environment, setting.Name+"="+setting.Value)
		}
	}
	return environment
}

// Without is an environment in which the library is not preloaded.
func Without(environment []string, library string) []string {
	const preload = "LD_PRELOAD="
	var result []string
	for _, entry := range environment {
		value, found := strings.CutPrefix(entry, preload)
		if !found {
			result = append(result, entry)
			continue
		}
		var others []string
		for _, other := range strings.FieldsFunc(value, isSeparator) {
			if other != library {
				others = append(others, other)
			}
		}
		if len(others) > 0 {
			result = append(result, preload+strings.Join(others, ":"))
		}
	}
	return result
}

// SearchFirst is the setting that makes the loader look for libraries in dir before anywhere else, as base has it
// otherwise.
func SearchFirst(base []string, dir string) Setting {
	const path = "LD_LIBRARY_PATH"
	value := dir
	for _, entry := range base {
		before, found := strings.CutPrefix(entry, path+"=")
		if !found {
			continue
		}
		for _, other := range filepath.SplitList(before) {
			if other != dir {
				value += string(filepath.ListSeparator) + other
			}
		}
	}
	return Setting{Name: path, Value: value}
}

func isSeparator(r rune) bool { return r == ':' || r == ' ' }

func isSet(settings []Setting, entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	for _, setting := range settings {
		if setting.Name == name {
			return true
		}
	}
	return false
}
