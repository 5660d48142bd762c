package bench

// The rounds of a benchmark.

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// Plan is what to run.
type Plan struct {
	Items      []Item
	Allocators []Allocator
	Rounds     int
	Scale      int // work in percent; 100 for figures that mean something
	Threads    int // for workloads with several; 0 for what they choose
	// Environment is given to everything that is measured, as NAME=VALUE.
	Environment []string
}

// Run is one execution of one item on one allocator.
type Run struct {
	Round     int
	Item      string
	Allocator string
	Threads   int
	Seconds   float64 // what is compared: see doc.go
	Outcome   Outcome
	Checksum  string
	Moments   []Moment
	Failure   string // empty for a good run
}

// session is what all runs of a plan share.
type session struct {
	layout   Layout
	plan     Plan
	measurer *Measurer
}

// Execute runs the plan and returns every run. Failed runs are among them; an error means that the
// benchmark itself could not go on. A pair that failed is not tried again in later rounds: a hang
// would cost its time limit each time.
func Execute(ctx context.Context, layout Layout, plan Plan, progress io.Writer) ([]Run, error) {
	if err := Build(ctx, layout, plan.Items); err != nil {
		return nil, err
	}
	if err := Prepare(ctx, layout, plan.Items, plan.Scale); err != nil {
		return nil, err
	}
	measurer, cleanUp, err := newMeasurer(layout, plan.Environment)
	if err != nil {
		return nil, err
	}
	defer cleanUp()
	for i := range plan.Allocators {
		if err := plan.Allocators[i].Probe(ctx, measurer); err != nil {
			return nil, err
		}
	}
	session := &session{layout: layout, plan: plan, measurer: measurer}
	var runs []Run
	references := map[string]string{}
	failed := map[string]bool{}
	for round := 1; round <= plan.Rounds; round++ {
		for _, item := range plan.Items {
			fmt.Fprintf(progress, "round %d/%d  %-20s", round, plan.Rounds, item.Name)
			for turn := range plan.Allocators {
				// Each round another one begins: the first may find caches colder.
				allocator := plan.Allocators[(turn+round-1)%len(plan.Allocators)]
				pair := item.Name + " " + allocator.Name
				if failed[pair] {
					continue
				}
				run, err := session.execute(ctx, item, allocator)
				if err != nil {
					return runs, fmt.Errorf("%s on %s: %w", item.Name, allocator.Name, err)
				}
				run.Round = round
				run.compare(references)
				failed[pair] = run.Failure != ""
				runs = append(runs, run)
				showRun(progress, run)
			}
			fmt.Fprintln(progress)
		}
	}
	return runs, nil
}

func showRun(progress io.Writer, run Run) {
	if run.Failure != "" {
		fmt.Fprintf(progress, "\n  FAILED on %s: %s\n  ", run.Allocator, run.Failure)
		return
	}
	fmt.Fprintf(progress, "  %s %.3f s %.0f MiB", run.Allocator, run.Seconds,
		float64(run.Outcome.PeakRSSKiB)/1024)
}

// execute runs an item once. What goes wrong inside the measured program is a failure of the
// run.
func (session *session) execute(
	ctx context.Context, item Item, allocator Allocator,
) (Run, error) {
	run := Run{Item: item.Name, Allocator: allocator.Name, Threads: 1}
	limited, cancel := context.WithTimeout(ctx, item.Limit)
	defer cancel()
	outcome, err := session.measure(limited, item, allocator.Library)
	if ctx.Err() != nil {
		return run, ctx.Err()
	}
	if err != nil {
		run.Failure = err.Error()
		return run, nil
	}
	defer os.Remove(outcome.OutputFile)
	run.Outcome = *outcome
	run.Failure = outcome.Failure()
	if run.Failure != "" {
		if outcome.ErrorText != "" {
			run.Failure += ": " + outcome.ErrorText
		}
		return run, nil
	}
	return run, run.read(item, outcome)
}

func (session *session) measure(
	ctx context.Context, item Item, preload string,
) (*Outcome, error) {
	scale := session.plan.Scale
	switch {
	case item.IsProgram() && item.Program.Server:
		return measureRedis(ctx, session.measurer, preload, scale)
	case item.IsProgram():
		command := item.Program.command(session.layout, scale)
		return session.measurer.Measure(ctx, preload, command)
	}
	arguments := []string{session.layout.binary(item.Name), fmt.Sprint(scale)}
	if session.plan.Threads > 0 {
		arguments = append(arguments, fmt.Sprint(session.plan.Threads))
	}
	return session.measurer.Measure(ctx, preload, Command{Arguments: arguments})
}

// read takes time and checksum from what the item printed.
func (run *Run) read(item Item, outcome *Outcome) error {
	if item.IsProgram() {
		run.Seconds = outcome.WallSeconds
		if item.Program.Server {
			run.Checksum = "served" // the client checked every reply; the server's log has dates
			return nil
		}
		checksum, err := fileHash(outcome.OutputFile)
		run.Checksum = checksum
		return err
	}
	text, err := os.ReadFile(outcome.OutputFile)
	if err != nil {
		return err
	}
	printed, err := ParseOutput(string(text))
	if err != nil {
		run.Failure = "unexpected output: " + err.Error()
		return nil
	}
	run.Seconds = printed.Seconds
	run.Checksum = printed.Checksum
	run.Threads = printed.Threads
	run.Moments = printed.Moments
	return nil
}

// compare fails a run whose checksum is not that of the first good run of the item, whatever
// allocator that was.
func (run *Run) compare(references map[string]string) {
	if run.Failure != "" {
		return
	}
	reference, ok := references[run.Item]
	if !ok {
		references[run.Item] = run.Checksum
		return
	}
	if run.Checksum != reference {
		run.Failure = fmt.Sprintf("checksum %s differs from %s of the first allocator: "+
			"blocks were lost or overwritten", run.Checksum, reference)
	}
}

// Day is the date in the name of the raw results.
func Day(now time.Time) string { return now.Format("2006-01-02") }
