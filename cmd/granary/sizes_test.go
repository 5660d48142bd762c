package main

import (
	"bytes"
	"strings"
	"testing"
)

func sizesOutput(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var output bytes.Buffer
	command := newSizesCommand()
	command.SetArgs(arguments)
	command.SetOut(&output)
	command.SetErr(&output)
	err := command.Execute()
	return output.String(), err
}

func TestSizesShowTheSecondBlockAndHowToAvoidIt(t *testing.T) {
	output, err := sizesOutput(t, "4096", "4095", "4063")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"managed heap, interior pointers   2 blocks, 8192 bytes, 4096 unused (50.0 %); 8191 bytes take the same",
		"better: 4095 bytes take 1 block, 4096 bytes, and so do 4063 behind an array header of 32",
		"managed heap, exact pointers      1 block, 4096 bytes, 0 unused (0.0 %)",
		"native heap                       4096 bytes, 0 unused (0.0 %)",
		"managed heap, interior pointers   1 block, 4096 bytes, 1 unused (0.0 %)\n",
		"1 block, 4096 bytes, 33 unused (0.8 %); 4095 bytes take the same",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in\n%s", want, output)
		}
	}
}

func TestSizesReadUnitsAndRefuseNonsense(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "17": 17, "4K": 4096, "4KiB": 4096, "4kB": 4096, "3M": 3 << 20, "1GiB": 1 << 30,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "K", "4X", "1e3", "4096G", "99999999999999999999", "4 K"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
	for _, arguments := range [][]string{{}, {"x"}, {"--header", "-1", "5"}} {
		if _, err := sizesOutput(t, arguments...); err == nil {
			t.Errorf("%q is accepted", arguments)
		}
	}
	if output, err := sizesOutput(t, "0", "2048", "1000000", "1G"); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
