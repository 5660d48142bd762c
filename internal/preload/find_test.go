package preload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProgramIsFoundAsExecvpFindsIt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, sub := range []string{"a", "b", "a/folder"} {
		if err := os.Mkdir(sub, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "a/refused", "", 0o644)
	write(t, "a/both", "", 0o644)
	write(t, "b/both", "", 0o755)
	write(t, "b/only", "", 0o755)
	write(t, "here", "", 0o755)
	if err := os.Symlink("nowhere", "b/dangling"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, path string
		want       string // the file, or a part of the message
		status     int
	}{
		{"only", "a:b", "b/only", 0},
		{"both", "a:b", "b/both", 0},
		{"here", "a::b", "./here", 0},
		{"here", "a:b", "for the file in this directory say ./here", StatusNotFound},
		{"./here", "", "./here", 0},
		{"refused", "a:b", "a/refused is not executable", StatusCannotExecute},
		{"folder", "a:b", "a/folder is a directory", StatusCannotExecute},
		{"none", "a:b", `"none" is not a program in PATH`, StatusNotFound},
		{"", "a:b", `"" is not a program in PATH`, StatusNotFound},
		{"a/none", "b", "a/none does not exist", StatusNotFound},
		{"here/below", "b", "here/below does not exist", StatusNotFound},
		{"b/dangling", "b", "b/dangling is a link to nowhere, which does not exist", StatusNotFound},
		{"/dev/null", "", "/dev/null is not a regular file", StatusCannotExecute},
	} {
		file, err := FindProgram(test.name, test.path, true)
		if test.status == 0 {
			if file != test.want || err != nil {
				t.Errorf("%s in %s: %q, %v; want %q", test.name, test.path, file, err, test.want)
			}
			continue
		}
		problem, isProblem := err.(*Problem)
		if !isProblem || problem.Status != test.status || !strings.Contains(problem.Text, test.want) {
			t.Errorf("%s in %s: %v, want %d and %q", test.name, test.path, err, test.status, test.want)
		}
	}
	if file, err := FindProgram("sh", "", false); err != nil || file != "/bin/sh" {
		t.Errorf("sh without PATH: %q, %v; want /bin/sh", file, err)
	}
}

func TestLibraryIsFoundBesideTheCommandAndInItsPrefix(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"build/lib", "prefix/bin", "prefix/lib", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	beside := write(t, filepath.Join(dir, "build/lib", LibraryName), "", 0o644)
	installed := write(t, filepath.Join(dir, "prefix/lib", LibraryName), "", 0o644)
	command := write(t, filepath.Join(dir, "prefix/bin/granary"), "", 0o755)
	link := filepath.Join(dir, "elsewhere/granary")
	if err := os.Symlink(command, link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ flag, variable, executable, want string }{
		{"", "", filepath.Join(dir, "build/granary"), beside},
		{"", "", command, installed},
		{"", "", link, installed},
		{"", beside, command, beside},
		{installed, beside, link, installed},
	} {
		got, err := FindLibrary(test.flag, test.variable, test.executable)
		if got != test.want || err != nil {
			t.Errorf("%+v: %q, %v", test, got, err)
		}
	}
	for named, want := range map[string]string{
		dir:           "is a directory; name the libgranary.so in it",
		dir + "/none": "--lib names no library: " + dir + "/none: no such file or directory",
	} {
		if _, err := FindLibrary(named, "", command); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("--lib=%s: %v, want %q", named, err, want)
		}
	}
}

func TestMissingLibraryIsToldWithAllPlaces(t *testing.T) {
	places := libraryPlaces("/opt/granary/bin/granary")
	for _, want := range []string{
		"/opt/granary/lib/libgranary.so", "/opt/granary/bin/lib/libgranary.so",
		"/usr/local/lib/libgranary.so", "/usr/lib/libgranary.so"} {
		if !slices.Contains(places, want) {
			t.Errorf("%s is not looked for; these are: %q", want, places)
		}
	}
	// Granary may be installed here, so the message is tested with places where nothing can be.
	empty := t.TempDir()
	for i := range places {
		places[i] = empty + places[i]
	}
	_, err := firstLibrary(places)
	if err == nil {
		t.Fatal("found a library")
	}
	for _, want := range append(places, "make", "--lib", "GRANARY_LIB") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %s: %v", want, err)
		}
	}
}

func TestWhatIsNotTheLibraryIsRefused(t *testing.T) {
	dir := t.TempDir()
	spaced := filepath.Join(dir, "with space")
	if err := os.Mkdir(spaced, 0o777); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		write(t, filepath.Join(dir, "text"), "text", 0o644):           "is not a shared library",
		compile(t, dir, "other.so", "int x;", "-shared"):              "does not have granary_version",
		compile(t, dir, "program", emptyMain):                         "does not have granary_version",
		compile(t, spaced, LibraryName, stubLibrary, "-shared"):       "takes no path with a space",
		write(t, filepath.Join(dir, "libgranary:.so"), "text", 0o644): "takes no path with",
	} {
		if _, err := OpenLibrary(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

func TestEnvironmentKeepsWhatIsNotSet(t *testing.T) {
	base := []string{"A=1", "LD_PRELOAD=/x/libother.so /old/libgranary.so:/new/libgranary.so:", "B=2",
		"LD_PRELOAD=/y/liblast.so", "A=3", "odd"}
	got := Environment(base, "/new/libgranary.so", []Setting{
		{Name: "A", Value: "changed"}, {Name: "B", Unset: true}, {Name: "C", Value: ""}})
	want := []string{"odd", "LD_PRELOAD=/new/libgranary.so:/x/libother.so:/y/liblast.so",
		"A=changed", "C="}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]uint64{"1": 1, "4096": 4096, "8B": 8, "2K": 2048, "2k": 2048,
		"3M": 3 << 20, "3MiB": 3 << 20, "1 G": 1 << 30, "1T": 1 << 40, "8388607T": 8388607 << 40} {
		if got, err := ParseSize(text); got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"": "not a size", "K": "not a size", "-1": "not a size",
		"1.5G": "not a size", "2X": "not a size", "0": "more than 0", "0K": "more than 0",
		"8388608T": "too large", "99999999999999999999": "not a size"} {
		if got, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v; want %q", text, got, err, want)
		}
	}
}

func TestLibrariesAreSearchedForInTheCollectorsFolderFirst(t *testing.T) {
	for _, c := range []struct {
		base []string
		want string
	}{
		{nil, "/gc"},
		{[]string{"LD_LIBRARY_PATH=/a:/gc:/b"}, "/gc:/a:/b"},
	} {
		if got := SearchFirst(c.base, "/gc"); got.Value != c.want || got.Name != "LD_LIBRARY_PATH" {
			t.Errorf("%q became %q, want %q", c.base, got.Value, c.want)
		}
	}
	got := Without([]string{"A=1", "LD_PRELOAD=/x.so:/y.so", "B=2"}, "/x.so")
	if want := []string{"A=1", "LD_PRELOAD=/y.so", "B=2"}; !slices.Equal(got, want) {
		t.Errorf("without the library: %q, want %q", got, want)
	}
	if got := Without([]string{"LD_PRELOAD=/x.so"}, "/x.so"); len(got) != 0 {
		t.Errorf("an empty LD_PRELOAD is left: %q", got)
	}
}
