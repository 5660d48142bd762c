package ctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The pkg-config file names what a program needs: with it, and the files where it says they are, a
// program compiles, links and runs on Granary.
func TestPkgConfigFileLeadsToTheLibrary(t *testing.T) {
	openLibrary(t)
	source, err := os.ReadFile(filepath.Join(library.Dir, "pkgconfig", "granary.pc"))
	if err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	install(t, prefix, string(source))

	fields := readPkgConfig(t, filepath.Join(prefix, "lib", "pkgconfig", "granary.pc"))
	if fields["Name"] != "granary" || fields["Version"] == "" || fields["Description"] == "" {
		t.Errorf("granary.pc lacks a name, version or description: %q", fields)
	}
	program := filepath.Join(prefix, "program")
	words := []string{"-o", program, "-x", "c", "-"}
	words = append(words, strings.Fields(fields["Cflags"])...)
	words = append(words, strings.Fields(fields["Libs"])...)
	cmd := exec.Command("gcc", append(words, "-Wl,-rpath,"+filepath.Join(prefix, "lib"))...)
	cmd.Stdin = strings.NewReader(`
#include <granary.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    void *block = malloc(100);
    printf("%s %d\n", granary_version(), granary_owns(block));
    free(block);
    return 0;
}
`)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(words, " "), err, output)
	}
	output, err := exec.Command(program).CombinedOutput()
	if want := fields["Version"] + " 1\n"; err != nil || string(output) != want {
		t.Errorf("the program printed %q, expected %q (%v)", output, want, err)
	}
}

// install puts the library, the header and the pkg-config file below prefix, as `make install`
// does.
func install(t *testing.T, prefix, pkgConfig string) {
	t.Helper()
	header, err := os.ReadFile(filepath.Join(moduleRoot, "clib", "include", "granary.h"))
	if err != nil {
		t.Fatal(err)
	}
	object, err := os.ReadFile(library.Preload)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(pkgConfig) {
		if strings.HasPrefix(line, "prefix=") {
			line = "prefix=" + prefix + "\n"
		}
		lines = append(lines, line)
	}
	for name, content := range map[string][]byte{
		"include/granary.h":        header,
		"lib/libgranary.so":        object,
		"lib/pkgconfig/granary.pc": []byte(strings.Join(lines, "")),
	} {
		path := filepath.Join(prefix, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// readPkgConfig understands the little of the format that granary.pc uses: variables and fields.
// pkg-config itself may not be on the machine.
func readPkgConfig(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	variables, fields := map[string]string{}, map[string]string{}
	replace := func(value string) string {
		return os.Expand(value, func(name string) string {
			found, known := variables[name]
			if !known {
				t.Errorf("granary.pc uses ${%s}, which it does not define", name)
			}
			return found
		})
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, value, found := strings.Cut(line, "="); found && !strings.ContainsAny(name, ": ") {
			variables[name] = replace(value)
		} else if name, value, found := strings.Cut(line, ":"); found {
			fields[name] = replace(strings.TrimSpace(value))
		}
	}
	return fields
}
