// This file has gcc and g++ build programs: the objects, the executables and what those print must
// be the same.

package programs

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// generatedC is a C file of many functions that call each other, to keep the compiler busy.
func generatedC(functions int) []byte {
	var out bytes.Buffer
	out.WriteString("#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n")
	for f := range functions {
		fmt.Fprintf(&out, `
struct shape%[1]d { uint32_t a[%[2]d]; double weight; const char *name; };
static uint32_t work%[1]d(struct shape%[1]d *s, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (i * %[3]du + n) %% %[2]du;
		switch (s->a[k] & 7u) {
		case 0: s->a[k] += i ^ %[3]du; break;
		case 1: s->a[k] = (s->a[k] << 3) | (s->a[k] >> 29); break;
		case 2: s->weight += s->a[k] / 16.0; break;
		case 5: s->a[k] -= (uint32_t)strlen(s->name); break;
		default: s->a[(k + 1) %% %[2]du] ^= s->a[k] * 2654435761u;
		}
	}
	return s->a[n %% %[2]du] + (uint32_t)s->weight;
}
`, f, 3+f%17, 7+f*13%101)
	}
	out.WriteString("\nint main(void) {\n\tuint32_t sum = 0;\n")
	for f := range functions {
		fmt.Fprintf(&out, "\t{ struct shape%[1]d s = { .name = \"shape %[1]d\" };"+
			" sum = sum * 31 + work%[1]d(&s, sum %% 97 + %[1]d); }\n", f)
	}
	out.WriteString("\tprintf(\"%u\\n\", sum);\n\treturn 0;\n}\n")
	return out.Bytes()
}

func TestGccBuildsAProgramToTheByte(t *testing.T) {
	gcc := need(t, "gcc", "gcc")
	functions := 60
	if fullSize {
		functions = 700
	}
	compare(t, func(s *session) {
		s.copyTestdata("calc/calc.h", "calc/lexer.c", "calc/compile.c", "calc/machine.c", "calc/main.c")
		s.write("generated.c", generatedC(functions))
		var objects []string
		for _, name := range []string{"lexer", "compile", "machine", "main"} {
			r := s.recordRun("gcc on "+name, command{args: []string{gcc, "-c", "-O2", "-g", "-Wall",
				"-Wextra", "-Icalc", "calc/" + name + ".c", "-o", name + ".o"}})
			s.needLoaded(r.loaded, "cc1", "as")
			s.recordFile(name + ".o")
			objects = append(objects, name+".o")
		}
		r := s.run(command{args: append([]string{gcc, "-o", "calc.out"}, objects...)})
		s.needLoaded(r.loaded, "collect2", "ld")
		s.recordFile("calc.out")
		program := s.copyTestdata("calc/primes.calc")[0]
		s.recordRun("the built program", command{args: []string{s.path("calc.out"), program}})

		s.run(command{args: []string{gcc, "-O2", "-o", "generated.out", "generated.c"},
			limit: 5 * time.Minute})
		s.recordFile("generated.out")
		s.recordRun("the generated program", command{args: []string{s.path("generated.out")}})
		// The names that -flto gives to its sections are random unless they get a seed.
		s.run(command{args: []string{gcc, "-O2", "-flto=2", "-frandom-seed=1", "-Icalc", "-o", "lto.out",
			"calc/lexer.c", "calc/compile.c", "calc/machine.c", "calc/main.c"}})
		s.recordRun("the program of -flto", command{args: []string{s.path("lto.out"), program}})
		bad := s.recordRun("gcc on an error", command{exits: []int{1}, args: []string{gcc, "-c", "-Icalc",
			s.copyTestdata("calc/broken.c")[0]}})
		if !bytes.Contains(bad.stderr, []byte("error:")) {
			s.fatalf("gcc found no error in broken.c")
		}
	})
}

func TestGxxBuildsAProgramWithExceptionsAndThreads(t *testing.T) {
	gxx := need(t, "g++", "g++")
	size, levels := "20000", [][]string{{"-O1"}}
	if fullSize {
		size = "600000"
		levels = [][]string{
			{"-O2", "-g", "-DWITH_REGEX"},
			{"-O2", "-flto", "-frandom-seed=1"},
		}
	}
	compare(t, func(s *session) {
		source := s.copyTestdata("threads.cc")[0]
		for _, flags := range levels {
			level := strings.Join(flags, "")
			program := s.path("threads" + level)
			args := []string{gxx, "-std=c++20", "-Wall", "-Wextra", "-pthread", source, "-o", program}
			r := s.recordRun("g++ "+level, command{args: append(args, flags...)})
			s.needLoaded(r.loaded, "cc1plus", "as", "ld")
			s.recordFile(filepath.Base(program))
			out := s.recordRun("the program of "+level, command{args: []string{program, size}})
			if !bytes.HasSuffix(out.stdout, []byte("all parts done\n")) {
				s.fatalf("the program did not reach its end:\n%s", tail(out.stdout))
			}
		}
	})
}
