package bench

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAServerThatCrashesIsAFailedRunAndNotAClientThatWaits(t *testing.T) {
	library := filepath.Join(t.TempDir(), "libcrash.so")
	text := "#include <stdlib.h>\n__attribute__((constructor)) static void die(void) { abort(); }\n"
	command := exec.Command("gcc", "-shared", "-fPIC", "-o", library, "-x", "c", "-")
	command.Stdin = strings.NewReader(text)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, output)
	}
	outcome, err := measureRedis(context.Background(), newTestMeasurer(t), library, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(outcome.Failure(), "killed by signal 6") {
		t.Errorf("the failure is %q", outcome.Failure())
	}
}
