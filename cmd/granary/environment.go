package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"granary/internal/preload"
)

// newEnvironmentTopic makes `granary help environment`.
func newEnvironmentTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "environment",
		Short: "The variables that Granary reads",
		Long:  environmentHelp(),
	}
}

func environmentHelp() string {
	var help strings.Builder
	help.WriteString("The library reads these variables when a program starts: under granary run, " +
		"with\nLD_PRELOAD and in programs linked to Granary. GRANARY_LIB is for granary run alone.\n\n")
	for _, option := range preload.Options {
		if option.Env == "" {
			continue
		}
		fmt.Fprintf(&help, "  %s=%s\n        %s", option.Env, option.Values(), option.Help)
		if option.Flag != "" {
			fmt.Fprintf(&help, "\n        as granary run --%s", option.Flag)
		}
		help.WriteString("\n")
	}
	return strings.TrimRight(help.String(), "\n")
}
