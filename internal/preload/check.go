package preload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Exit statuses of a run that did not come to the program, as those of env(1) and the shell.
const (
	StatusFailed        = 125 // Granary's own failure, the program was not tried
	StatusCannotExecute = 126 // found, but cannot be executed
	StatusNotFound      = 127
)

// Problem is why a program cannot be run, or cannot be run on Granary.
type Problem struct {
	Status int
	Text   string

	// Children is set if the program cannot use Granary but the programs that it starts can.
	Children bool
}

func (p *Problem) Error() string { return p.Text }

// Verdict is what Check found out about a program.
type Verdict struct {
	// Refusal says why the program cannot run on Granary. nil: it can.
	Refusal *Problem

	// Format says what is wrong if the system answers that it cannot execute the file. The system
	// has the last word, because it can be taught further formats (binfmt_misc).
	Format *Problem

	Warnings []string
}

// Checker checks programs against a library.
type Checker struct {
	Library *Library
	Path    string // the value of PATH, for scripts run by env
	PathSet bool
}

// scriptDepth is how many interpreters the kernel follows before it gives up.
const scriptDepth = 5

// firstBytes is how much of a file the kernel looks at to tell what it is.
const firstBytes = 256

// Check follows file to the ELF file that the system will execute for it, and says whether the
// dynamic loader will load the library into that.
func (c *Checker) Check(file string) *Verdict {
	verdict := &Verdict{}
	for range scriptDepth + 1 {
		first, err := readFirst(file)
		if err != nil {
			verdict.warn("%s; so I cannot tell whether it can run on Granary", reasonOf(file, err))
			return verdict
		}
		switch {
		case bytes.HasPrefix(first, []byte("#!")):
			next := c.checkScript(verdict, file, first)
			if next == "" {
				return verdict
			}
			file = next
		case bytes.HasPrefix(first, []byte("\x7fELF")):
			c.checkELF(verdict, file)
			return verdict
		default:
			verdict.Format = &Problem{Status: StatusCannotExecute, Text: describeUnknown(file, first)}
			return verdict
		}
	}
	verdict.Format = &Problem{Status: StatusCannotExecute, Text: fmt.Sprintf("%s: the chain of "+
		"interpreters is too long; the system follows %d", file, scriptDepth)}
	return verdict
}

func (v *Verdict) warn(format string, arguments ...any) {
	v.Warnings = append(v.Warnings, fmt.Sprintf(format, arguments...))
}

func (v *Verdict) refuse(status int, format string, arguments ...any) {
	v.Refusal = &Problem{Status: status, Text: fmt.Sprintf(format, arguments...)}
}

func readFirst(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	first := make([]byte, firstBytes)
	count, err := io.ReadFull(file, first)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return first[:count], err
}

func describeUnknown(file string, first []byte) string {
	switch {
	case len(first) == 0:
		return file + " is empty"
	case bytes.HasPrefix(first, []byte("MZ")):
		return file + " is a Windows program; run it with wine, if that is installed"
	case bytes.IndexByte(first, 0) < 0:
		return fmt.Sprintf("%s is a text without a first line such as #!/bin/sh, so the system "+
			"cannot tell what runs it; if it is a shell script: granary run -- sh %s", file, file)
	}
	return file + " is neither a program of this system (ELF) nor a script"
}

// checkScript finds the file that the system executes for a script, "" if there is nothing more to
// check.
func (c *Checker) checkScript(verdict *Verdict, file string, first []byte) string {
	line, _, whole := bytes.Cut(first[2:], []byte("\n"))
	if !whole && len(first) == firstBytes && bytes.IndexAny(bytes.TrimLeft(line, " \t"), " \t") < 0 {
		verdict.refuse(StatusCannotExecute, "%s: its first line (#!) is longer than the %d bytes "+
			"that the system reads", file, firstBytes)
		return ""
	}
	interpreter, argument, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(
		strings.Trim(string(line), " \t"), "\t", " ")), " ")
	argument = strings.TrimSpace(argument)
	if bytes.HasSuffix(line, []byte("\r")) {
		verdict.refuse(StatusCannotExecute, "%s: its first line ends as lines do on Windows, so the "+
			"system looks for an interpreter with a carriage return in its name; "+
			"convert the file: sed -i 's/\\r$//' %s", file, file)
		return ""
	}
	if interpreter == "" {
		verdict.refuse(StatusCannotExecute, "%s: its first line names no interpreter after #!", file)
		return ""
	}
	if problem := notExecutable(interpreter); problem != nil {
		verdict.refuse(StatusCannotExecute, "%s: its interpreter cannot be executed: %s; "+
			"install it or correct the first line of the script", file, problem.Text)
		return ""
	}
	if filepath.Base(interpreter) == "env" && argument != "" {
		return c.checkEnv(verdict, file, interpreter, argument)
	}
	return interpreter
}

// checkEnv finds the program that env starts for a script. The system hands env all that stands
// behind it as one argument. What cannot be followed here is left to env.
func (c *Checker) checkEnv(verdict *Verdict, file, env, argument string) string {
	call, known := parseEnv(argument)
	if !known {
		return env
	}
	if call.clears {
		verdict.refuse(StatusFailed, "%s: its first line starts env with -i, which takes LD_PRELOAD "+
			"and with it Granary away; run its interpreter: granary run -- %s %s",
			file, call.program, file)
		return ""
	}
	program, err := FindProgram(call.program, c.Path, c.PathSet)
	if err == nil {
		return program
	}
	hint := "install it, or correct PATH or the first line of the script"
	if strings.ContainsAny(call.program, " \t") {
		hint = "the system passes it as one word; write #!" + env + " -S " + call.program
	}
	verdict.refuse(StatusCannotExecute, "%s: its interpreter cannot be found: %v; %s", file, err, hint)
	return ""
}

// envCall is what env was told to do.
type envCall struct {
	program string
	clears  bool // starts the program without the variables of this process
}

// parseEnv reads the argument of env in the first line of a script. It knows the usual forms: a
// name, and -S with options, variables and a name.
func parseEnv(argument string) (call envCall, known bool) {
	split, isSplit := strings.CutPrefix(argument, "--split-string")
	if isSplit {
		split = strings.TrimLeft(split, "= ")
	} else {
		split, isSplit = strings.CutPrefix(argument, "-S")
	}
	if !isSplit {
		known = !strings.HasPrefix(argument, "-") && !strings.Contains(argument, "=")
		return envCall{program: argument}, known
	}
	if strings.ContainsAny(split, `"'\$#`) {
		return envCall{}, false
	}
	words := strings.Fields(split)
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "-" || word == "-i" || word == "--ignore-environment":
			call.clears = true
		case word == "-u" || word == "--unset":
			i++
		case strings.HasPrefix(word, "-u"), strings.HasPrefix(word, "--unset="):
		case strings.HasPrefix(word, "PATH="), strings.HasPrefix(word, "-"):
			return envCall{}, false
		case strings.Contains(word, "="):
		default:
			call.program = word
			return call, true
		}
	}
	return envCall{}, false
}
