package bench

// Medians, ratios and means.

import (
	"fmt"
	"math"
	"sort"

	"github.com/montanaflynn/stats"
)

// Cell is what is known of one item on one allocator.
type Cell struct {
	Item       string
	Allocator  string
	Program    bool
	Threads    int
	Seconds    float64 // median
	CPUSeconds float64 // median of user + system
	PeakKiB    float64 // median
	Spread     float64 // (slowest - fastest) / median of Seconds
	Moments    []Moment
	Failure    string // of the first failed run; the figures are then NaN
}

// Results holds every cell, items and allocators in the order in which they ran.
type Results struct {
	Items      []Item
	Allocators []Allocator
	Rounds     int
	Baseline   string // the allocator that ratios are taken to
	// CoreShare is how much of a processor core the workloads with one thread got: 1 on a quiet
	// machine. NaN if none ran.
	CoreShare float64
	cells     map[[2]string]*Cell
}

// NewResults makes the cells out of the runs of a plan.
func NewResults(plan Plan, runs []Run) *Results {
	results := &Results{
		Items: plan.Items, Allocators: plan.Allocators, Rounds: plan.Rounds,
		Baseline: plan.Allocators[0].Name, cells: map[[2]string]*Cell{},
	}
	for _, allocator := range plan.Allocators {
		if allocator.Name == Baseline {
			results.Baseline = Baseline
		}
	}
	results.CoreShare = coreShare(plan.Items, runs)
	byPair := map[[2]string][]Run{}
	for _, run := range runs {
		pair := [2]string{run.Item, run.Allocator}
		byPair[pair] = append(byPair[pair], run)
	}
	for i := range plan.Items {
		for _, allocator := range plan.Allocators {
			pair := [2]string{plan.Items[i].Name, allocator.Name}
			results.cells[pair] = newCell(&plan.Items[i], allocator.Name, byPair[pair])
		}
	}
	return results
}

// coreShare compares processor time with wall time where they should be equal: in workloads with
// one thread that never wait. Those that name moments wait.
func coreShare(items []Item, runs []Run) float64 {
	programs := map[string]bool{}
	for i := range items {
		programs[items[i].Name] = items[i].IsProgram()
	}
	var processor, wall float64
	for _, run := range runs {
		if programs[run.Item] || run.Threads > 1 || run.Failure != "" || len(run.Moments) > 0 {
			continue
		}
		processor += run.Outcome.UserSeconds + run.Outcome.SystemSeconds
		wall += run.Outcome.WallSeconds
	}
	return processor / wall
}

// quietShare is the share of a core below which figures are not worth keeping.
const quietShare = 0.9

// Busy says in words that other programs disturbed the benchmark; it is empty if none did.
func (results *Results) Busy() string {
	if !(results.CoreShare < quietShare) {
		return ""
	}
	return fmt.Sprintf("the machine was busy: workloads with one thread got only "+
		"%.0f %% of a core, so times are unreliable", 100*results.CoreShare)
}

func newCell(item *Item, allocator string, runs []Run) *Cell {
	cell := &Cell{
		Item: item.Name, Allocator: allocator, Program: item.IsProgram(), Threads: 1,
		Seconds: math.NaN(), CPUSeconds: math.NaN(), PeakKiB: math.NaN(),
	}
	if len(runs) == 0 {
		cell.Failure = "was not run"
		return cell
	}
	var seconds, cpu, peak []float64
	for _, run := range runs {
		if run.Failure != "" {
			cell.Failure = run.Failure
			return cell
		}
		seconds = append(seconds, run.Seconds)
		cpu = append(cpu, run.Outcome.UserSeconds+run.Outcome.SystemSeconds)
		peak = append(peak, float64(run.Outcome.PeakRSSKiB))
		cell.Threads = run.Threads
	}
	cell.Seconds = median(seconds)
	cell.CPUSeconds = median(cpu)
	cell.PeakKiB = median(peak)
	sort.Float64s(seconds)
	cell.Spread = (seconds[len(seconds)-1] - seconds[0]) / cell.Seconds
	cell.Moments = medianMoments(runs)
	return cell
}

func medianMoments(runs []Run) []Moment {
	var moments []Moment
	for index, moment := range runs[0].Moments {
		var kib []float64
		for _, run := range runs {
			if index < len(run.Moments) && run.Moments[index].Name == moment.Name {
				kib = append(kib, float64(run.Moments[index].KiB))
			}
		}
		moments = append(moments, Moment{Name: moment.Name, KiB: int64(median(kib))})
	}
	return moments
}

func median(values []float64) float64 {
	value, err := stats.Median(values)
	if err != nil { // no values
		return math.NaN()
	}
	return value
}

// geometricMean leaves out what is not a number: cells that failed. Without any values it is NaN.
// It sums logarithms, as the product of many ratios need not fit.
func geometricMean(values []float64) float64 {
	var logarithms []float64
	for _, value := range values {
		if !math.IsNaN(value) && value > 0 {
			logarithms = append(logarithms, math.Log(value))
		}
	}
	mean, err := stats.Mean(logarithms)
	if err != nil {
		return math.NaN()
	}
	return math.Exp(mean)
}

// Cell returns what is known of an item on an allocator.
func (results *Results) Cell(item, allocator string) *Cell {
	return results.cells[[2]string{item, allocator}]
}

// Failures lists the failed cells.
func (results *Results) Failures() []*Cell {
	var failures []*Cell
	for _, item := range results.Items {
		for _, allocator := range results.Allocators {
			if cell := results.Cell(item.Name, allocator.Name); cell.Failure != "" {
				failures = append(failures, cell)
			}
		}
	}
	return failures
}

// Figure is what of a cell is compared.
type Figure func(cell *Cell) float64

// Seconds and Peak are the two figures that the goals speak of.
func Seconds(cell *Cell) float64 { return cell.Seconds }

// CPU is the time that all threads spent, start-up and exit included.
func CPU(cell *Cell) float64 { return cell.CPUSeconds }

// Peak is the peak memory in KiB.
func Peak(cell *Cell) float64 { return cell.PeakKiB }

// Ratio is an allocator's figure over the baseline's; NaN when one of them failed.
func (results *Results) Ratio(item, allocator string, figure Figure) float64 {
	return figure(results.Cell(item, allocator)) / figure(results.Cell(item, results.Baseline))
}

// Mean is the geometric mean of the ratios over the items that keep returns true for.
func (results *Results) Mean(allocator string, figure Figure, keep func(item *Item) bool) float64 {
	var ratios []float64
	for i := range results.Items {
		if keep(&results.Items[i]) {
			ratios = append(ratios, results.Ratio(results.Items[i].Name, allocator, figure))
		}
	}
	return geometricMean(ratios)
}

// Extreme is an item and how an allocator does on it.
type Extreme struct {
	Item  string
	Ratio float64
	Best  string // the peer compared with
}

// AgainstBestPeer compares an allocator with the best of the peers (all but Granary and itself) on
// every item, the worst ratio first.
func (results *Results) AgainstBestPeer(allocator string, figure Figure) []Extreme {
	var extremes []Extreme
	for _, item := range results.Items {
		best := Extreme{Item: item.Name, Ratio: math.NaN()}
		lowest := math.Inf(1)
		for _, peer := range results.Allocators {
			value := figure(results.Cell(item.Name, peer.Name))
			if peer.Name != allocator && peer.Name != Granary && value < lowest {
				lowest, best.Best = value, peer.Name
			}
		}
		best.Ratio = figure(results.Cell(item.Name, allocator)) / lowest
		if !math.IsNaN(best.Ratio) && best.Best != "" {
			extremes = append(extremes, best)
		}
	}
	sort.SliceStable(extremes, func(i, j int) bool { return extremes[i].Ratio > extremes[j].Ratio })
	return extremes
}

// AgainstBaseline compares an allocator with the baseline on every item, the worst ratio first.
func (results *Results) AgainstBaseline(allocator string, figure Figure) []Extreme {
	var extremes []Extreme
	for _, item := range results.Items {
		ratio := results.Ratio(item.Name, allocator, figure)
		if !math.IsNaN(ratio) {
			extreme := Extreme{Item: item.Name, Ratio: ratio, Best: results.Baseline}
			extremes = append(extremes, extreme)
		}
	}
	sort.SliceStable(extremes, func(i, j int) bool { return extremes[i].Ratio > extremes[j].Ratio })
	return extremes
}
