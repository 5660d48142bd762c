package sqlite

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	_ "modernc.org/fileutil" // sqlite's tests need it
)

// runTests runs tests of a package that this module depends on, and returns for each whether it was a "pass", "fail" or
// "skip". It fails the test with their output if one failed.
func runTests(t *testing.T, pkg string, flags ...string) map[string]string {
	t.Helper()
	arguments := append([]string{"test", "-json", "-vet=off", "-count=1", "-short"}, flags...)
	command := exec.Command("go", append(arguments, pkg)...)
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	results := map[string]string{}
	texts := map[string][]byte{}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for decoder.More() {
		var event struct{ Action, Test, Output string }
		if err := decoder.Decode(&event); err != nil {
			t.Fatalf("go test -json: %v\n%s%s", err, output, problems.Bytes())
		}
		switch event.Action {
		case "pass", "fail", "skip":
			results[event.Test] = event.Action
		case "output":
			texts[event.Test] = append(texts[event.Test], event.Output...)
		}
		if event.Action == "fail" {
			t.Errorf("%s failed:\n%s", event.Test, texts[event.Test])
		}
	}
	if err != nil {
		t.Errorf("go test %s: %v\n%s", pkg, err, problems.Bytes())
	}
	return results
}
