// Frames is a game loop without a picture: jobs on all cores, a level that loads, and steady play. It shows how to read
// the usage report of linear allocators, and how to find the block size that a program needs.
//
//	go run ./examples/frames -frames 700  > short.log
//	go run ./examples/frames -frames 2500 > long.log
//	granary compare short.log long.log
//
// What the loading takes once is the same in both logs: a watermark, nothing to change. What every frame takes too much
// grows with the run. It takes the switches of Unity's players:
//
//	-memorysetup-job-temp-allocator-block-size=262144    blocks that are large enough for the play
//	-diag-job-temp-memory-leak-validation                where what is never freed was made
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run plays a game as the arguments say and prints its log.
func run(args []string, out io.Writer) error {
	var own, switches []string
	for _, arg := range args {
		if name := strings.TrimLeft(arg, "-"); strings.HasPrefix(name, "memorysetup-") || strings.HasPrefix(name, "diag-") {
			switches = append(switches, arg)
		} else {
			own = append(own, arg)
		}
	}
	flags := flag.NewFlagSet("frames", flag.ContinueOnError)
	flags.SetOutput(out)
	frames := flags.Int("frames", 700, "frames to play")
	workers := flags.Int("workers", 2, "workers that do jobs")
	leak := flags.Bool("leak", false, "a job that forgets its memory now and then")
	if err := flags.Parse(own); err != nil {
		return err
	}
	g, err := newGame(switches, *workers, out)
	if err != nil {
		return err
	}
	g.leak = *leak
	return g.play(*frames)
}
