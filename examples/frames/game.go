package main

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"granary/linear"
)

// What the game needs in a frame. A frame's memory lives two frames: the next one reads what this one made.
const (
	jobsPerFrame   = 48
	visiblePerJob  = 3000    // objects that a job looks at, 16 bytes each in its result
	loadingFrames  = 5       // the first frames, in which a level is unpacked
	loadedChunks   = 3000    // of it, in each of these frames
	chunkBytes     = 8 << 10 // that one is unpacked into
	pathBytes      = 200     // scratch of an object: gone before the job ends
	leakEveryFrame = 100
)

// visible is one object that a job found in view.
type visible struct {
	object   int32
	distance float32
	flags    [2]uint32
}

// game is a loop with workers that do its jobs.
type game struct {
	system  *linear.System
	main    *linear.Stack
	workers []*worker
	leak    bool
	last    memory // of the frame before
	seen    int64  // over all frames: the result of the game
}

// memory is what the jobs of a frame made: an entry a job.
type memory struct {
	found  [][]visible
	loaded [][][]byte // chunks of the level
}

// worker does jobs. It has a stack of its own for what a job needs while it runs.
type worker struct {
	game  *game
	stack *linear.Stack
	jobs  chan job
}

// job is a part of a frame's work.
type job struct {
	frame, part int
	into        memory // the frame's; an entry is the job's
	chunks      int    // of the level, to be unpacked
	done        *sync.WaitGroup
	failed      *error
}

func newGame(switches []string, workers int, out io.Writer) (*game, error) {
	settings := linear.DefaultSettings()
	settings.JobTempBlock = 64 << 10 // too small for this game, as the report will say
	settings.LogStats = true
	if err := settings.ApplyArgs(switches); err != nil {
		return nil, err
	}
	// The memory is said to be plenty, so that the example is the same on a small machine.
	system, err := linear.NewSystem(linear.SystemConfig{Settings: settings, Output: out, Memory: 16 << 30,
		OnOverdue: func(o linear.Overdue) { fmt.Fprintln(out, o) }})
	if err != nil {
		return nil, err
	}
	g := &game{system: system}
	if g.main, err = system.NewStack("MAIN"); err != nil {
		return nil, errors.Join(err, system.Close())
	}
	for i := range workers {
		stack, err := system.NewStack(fmt.Sprintf("Job.Worker %d", i))
		if err != nil {
			return nil, errors.Join(err, system.Close())
		}
		g.workers = append(g.workers, &worker{game: g, stack: stack, jobs: make(chan job)})
	}
	return g, nil
}

// play runs the loop and closes the system, which prints the report.
func (g *game) play(frames int) error {
	var running sync.WaitGroup
	for _, w := range g.workers {
		running.Go(w.run)
	}
	var err error
	for frame := 0; frame < frames && err == nil; frame++ {
		err = g.frame(frame)
	}
	for _, w := range g.workers {
		close(w.jobs)
	}
	running.Wait()
	if err == nil {
		err = g.forget(g.last)
	}
	return errors.Join(err, g.system.Close())
}

// frame gives the jobs out, waits for them, and looks at what they found.
func (g *game) frame(frame int) error {
	mark := g.main.Mark()
	order, err := linear.MakeSlice[int32](g.main, jobsPerFrame, jobsPerFrame)
	if err != nil {
		return err
	}
	for i := range order {
		order[i] = int32((i*7 + frame) % jobsPerFrame)
	}
	var done sync.WaitGroup
	now := memory{make([][]visible, jobsPerFrame), make([][][]byte, jobsPerFrame)}
	failed := make([]error, jobsPerFrame)
	chunks := 0
	if frame < loadingFrames {
		chunks = loadedChunks / jobsPerFrame
	}
	for i, part := range order {
		done.Add(1)
		w := g.workers[i%len(g.workers)]
		w.jobs <- job{frame, int(part), now, chunks, &done, &failed[part]}
	}
	done.Wait()
	for _, found := range now.found {
		g.seen += int64(len(found))
	}
	// The frame before is over for everybody: its memory goes, whichever worker made it.
	err = errors.Join(append(failed, g.forget(g.last), g.main.Rewind(mark))...)
	g.last = now
	g.system.NextFrame()
	return err
}

// forget frees the memory of a frame.
func (g *game) forget(m memory) error {
	for _, found := range m.found {
		if err := linear.FreeSlice(g.system.JobTemp, found); err != nil {
			return err
		}
	}
	for _, chunks := range m.loaded {
		for _, chunk := range chunks {
			if err := linear.FreeSlice(g.system.JobTemp, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *worker) run() {
	for j := range w.jobs {
		*j.failed = w.do(j)
		j.done.Done()
	}
}

// do looks at objects, and while the level loads unpacks a part of it.
func (w *worker) do(j job) error {
	mark := w.stack.Mark()
	temp := w.game.system.JobTemp
	found, err := linear.MakeSlice[visible](temp, 0, visiblePerJob)
	if err != nil {
		return err
	}
	for i := range int32(visiblePerJob) {
		path, err := w.stack.Alloc(pathBytes, 8)
		if err != nil {
			return err
		}
		*(*int32)(path) = i * int32(j.part+1)
		if (i+int32(j.frame))%3 == 0 {
			found = append(found, visible{object: *(*int32)(path), distance: float32(i)})
		}
		if i%100 == 99 {
			if err := w.stack.Rewind(mark); err != nil {
				return err
			}
		}
	}
	j.into.found[j.part] = found
	if w.game.leak && j.part == 0 && j.frame%leakEveryFrame == 0 {
		if _, err := linear.Make[visible](temp); err != nil { // nobody frees it: the report will say so
			return err
		}
	}
	return errors.Join(w.load(j), w.stack.Rewind(mark))
}

// load unpacks chunks of a level.
func (w *worker) load(j job) error {
	chunks := make([][]byte, j.chunks)
	for i := range chunks {
		chunk, err := linear.MakeSlice[byte](w.game.system.JobTemp, chunkBytes, chunkBytes)
		if err != nil {
			return err
		}
		chunk[0], chunk[chunkBytes-1] = 1, 1
		chunks[i] = chunk
	}
	j.into.loaded[j.part] = chunks
	return nil
}
