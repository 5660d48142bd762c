package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"granary/internal/preload"
)

func newVersionCommand() *cobra.Command {
	var library string
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this command and of the library",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			output := command.OutOrStdout()
			fmt.Fprintf(output, "granary %s\n", version)
			found, err := findLibrary(library)
			if err != nil {
				fmt.Fprintf(output, "library not found\n")
				return err
			}
			answer, err := libraryVersion(found.Path)
			if err != nil {
				return err
			}
			fmt.Fprintf(output, "library %s %s\n", answer, found.Path)
			return nil
		},
	}
	command.Flags().StringVar(&library, "lib", "", "the libgranary.so to ask, as for granary run")
	return command
}

// startLine is what the library says when it starts in a process and GRANARY_VERBOSE is set.
var startLine = regexp.MustCompile(`(?m)^granary: (\S+) in pid `)

// libraryVersion asks the library itself: it is loaded into a program that does nothing. So the
// answer also means that the library can be loaded on this system.
func libraryVersion(path string) (string, error) {
	const limit = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var stderr bytes.Buffer
	probe := exec.CommandContext(ctx, "/bin/true")
	probe.Env = preload.Environment(os.Environ(), path, []preload.Setting{
		{Name: "GRANARY_VERBOSE", Value: "1"}, {Name: "GRANARY_REPORT", Value: "none"}})
	probe.Stderr = &stderr
	err := probe.Run()
	if match := startLine.FindStringSubmatch(stderr.String()); match != nil && err == nil {
		return match[1], nil
	}
	if err == nil {
		err = fmt.Errorf("it did not say its version")
	}
	return "", fmt.Errorf("%s cannot be loaded: %w\n%s", path, err,
		strings.TrimSpace(stderr.String()))
}
