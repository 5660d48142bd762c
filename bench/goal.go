package bench

// The goals that Granary's heap is held to, and whether results meet them.

import "fmt"

// The goals: geometric means of the ratios to mimalloc over everything, and for each single item a
// bound against the best of the peers.
const (
	goalTime      = 0.85
	goalPeak      = 0.90
	goalWorstTime = 1.25
)

// Goal is one goal and how it was met.
type Goal struct {
	Text string
	Met  bool
}

// Goals judges Granary. It is empty when Granary or mimalloc was not measured.
func (results *Results) Goals() []Goal {
	if results.Baseline != Baseline || !results.has(Granary) {
		return nil
	}
	all := results.groups()[0].keep
	time := results.Mean(Granary, Seconds, all)
	peak := results.Mean(Granary, Peak, all)
	goals := []Goal{
		{
			Text: fmt.Sprintf("time at most %.2f of mimalloc's: it is %.2f", goalTime, time),
			Met:  time <= goalTime,
		},
		{
			Text: fmt.Sprintf("peak memory at most %.2f of mimalloc's: it is %.2f", goalPeak, peak),
			Met:  peak <= goalPeak,
		},
	}
	slow := 0
	against := results.AgainstBestPeer(Granary, Seconds)
	for _, extreme := range against {
		if extreme.Ratio <= goalWorstTime {
			break // sorted, the worst first
		}
		slow++
		goals = append(goals, Goal{
			Text: fmt.Sprintf("%s at most %.2f of the best peer's time: it is %.2f of %s's",
				extreme.Item, goalWorstTime, extreme.Ratio, extreme.Best),
		})
	}
	if slow == 0 {
		goals = append(goals, Goal{
			Text: fmt.Sprintf("nothing slower than %.2f of the best peer: the worst is %s",
				goalWorstTime, extremeText(against)),
			Met: true,
		})
	}
	for _, failure := range results.Failures() {
		if failure.Allocator == Granary {
			goals = append(goals, Goal{Text: failure.Item + " must run: " + failure.Failure})
		}
	}
	return goals
}

func (results *Results) has(name string) bool {
	for _, allocator := range results.Allocators {
		if allocator.Name == name {
			return true
		}
	}
	return false
}
