package bench

// The real programs. Their scripts are in programs/; what is too large for a file of the repository
// is generated there by prepare.sh, always the same bytes.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program is a real program and what it is given to do.
type Program struct {
	Name        string
	DebPackage  string
	Summary     string
	Environment []string
	Input       string // for standard input, relative to the data folder
	Directory   string // to run in, relative to the data folder
	// Arguments may contain {programs} and {data}, the folders, and {scale}, the work in percent.
	Arguments []string
	// Server is set for a program that is measured while a client talks to it.
	Server bool
}

func programs() []*Program {
	return []*Program{
		{
			Name: "python3", DebPackage: "python3",
			Summary: "CPython counts words, sorts, builds JSON and objects " +
				"(its own pool serves up to 512 bytes)",
			Arguments:   []string{"python3", "{programs}/words.py", "{scale}"},
			Environment: pythonEnvironment,
		},
		{
			Name: "python3-malloc", DebPackage: "python3",
			Summary:     "the same with PYTHONMALLOC=malloc: every object is one malloc",
			Arguments:   []string{"python3", "{programs}/words.py", "{scale}"},
			Environment: append([]string{"PYTHONMALLOC=malloc"}, pythonEnvironment...),
		},
		{
			Name: "redis", DebPackage: "redis-server redis-tools",
			Summary: "redis-server under redis-benchmark: SET, GET, LPUSH, HSET, ZADD, SETRANGE, " +
				"DEL with 50 clients; time is the client's, memory the server's",
			Arguments: []string{"redis-server"}, Server: true,
		},
		{
			Name: "sqlite3", DebPackage: "sqlite3",
			Summary:   "SQLite fills, indexes, joins and sorts tables in memory",
			Arguments: []string{"sqlite3", ":memory:"}, Input: "tables-{scale}.sql",
		},
		{
			Name: "gcc", DebPackage: "gcc",
			Summary:   "gcc -O2 compiles a generated C file",
			Arguments: []string{"gcc", "-O2", "-S", "-o", "-", "generated-{scale}.c"},
		},
		{
			Name: "g++", DebPackage: "g++",
			Summary:   "g++ compiles a generated C++ file full of standard containers",
			Arguments: []string{"g++", "-O0", "-S", "-o", "-", "generated-{scale}.cc"},
		},
		{
			Name: "lua5.4", DebPackage: "lua5.4",
			Summary:   "Lua builds, changes and drops tables and strings",
			Arguments: []string{"lua5.4", "{programs}/records.lua", "{scale}"},
		},
		{
			Name: "git", DebPackage: "git",
			Summary: "git log -p -M over a generated repository: objects are unpacked and compared",
			Arguments: []string{
				"git", "-c", "core.pager=cat", "log", "-p", "-M", "--stat", "--all",
			}, Directory: "repository-{scale}",
		},
		{
			Name: "perl", DebPackage: "perl",
			Summary:   "perl splits log lines, fills hashes of arrays and sorts them",
			Arguments: []string{"perl", "{programs}/log.pl", "{scale}"},
			// The order of the keys must not depend on a random seed.
			Environment: []string{"PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0"},
		},
	}
}

var pythonEnvironment = []string{"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"}

// CheckPrograms names every program that is not installed, with its package, in one error.
func CheckPrograms(items []Item) error {
	var missing []string
	for _, item := range items {
		if item.IsProgram() && lookProgram(item.Program.Arguments[0]) == "" {
			missing = append(missing, item.Program.DebPackage)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("programs to measure are missing: run apt-get install %s, "+
		"or leave them out with --only", strings.Join(missing, " "))
}

func lookProgram(name string) string {
	for directory := range strings.SplitSeq(searchPath, ":") {
		path := filepath.Join(directory, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return path
		}
	}
	return ""
}

// Prepare generates the inputs of the programs, when a program is among the items. The script does
// nothing for what is there already.
func Prepare(ctx context.Context, layout Layout, items []Item, scale int) error {
	needed := false
	for _, item := range items {
		needed = needed || item.IsProgram()
	}
	if !needed {
		return nil
	}
	script := filepath.Join(layout.Programs(), "prepare.sh")
	command := exec.CommandContext(ctx, "/bin/sh", script, layout.Data(), fmt.Sprint(scale))
	command.Env = []string{
		"PATH=" + searchPath, "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=" + layout.Data(),
	}
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", script, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// command fills in the folders and the scale.
func (program *Program) command(layout Layout, scale int) Command {
	replace := strings.NewReplacer(
		"{programs}", layout.Programs(), "{data}", layout.Data(), "{scale}", fmt.Sprint(scale))
	command := Command{Environment: program.Environment, Directory: layout.Data()}
	for _, argument := range program.Arguments {
		command.Arguments = append(command.Arguments, replace.Replace(argument))
	}
	if program.Input != "" {
		command.Input = filepath.Join(layout.Data(), replace.Replace(program.Input))
	}
	if program.Directory != "" {
		command.Directory = filepath.Join(layout.Data(), replace.Replace(program.Directory))
	}
	return command
}
