// Command framebuffer draws frames into buffers that live for a few frames each, as a video pipeline or a game does,
// and reports how often the garbage collector had to run, and the times of frames.
//
//	go run ./examples/framebuffer          # buffers of package heap
//	go run ./examples/framebuffer -go      # make
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"granary/heap"
)

const (
	width, height = 1280, 720
	bytesPerPixel = 4
	inFlight      = 3 // frames that are being shown or encoded while the next one is drawn
)

func main() {
	frames := flag.Int("frames", 600, "frames to draw")
	useMake := flag.Bool("go", false, "take the buffers with make")
	flag.Parse()
	if err := run(os.Stdout, *frames, *useMake); err != nil {
		fmt.Fprintln(os.Stderr, "framebuffer:", err)
		os.Exit(1)
	}
}

// buffers is where frames come from.
type buffers interface {
	Bytes(size int) ([]byte, error)
	FreeBytes(b []byte) error
}

// goBuffers leaves frames to the garbage collector.
type goBuffers struct{}

func (goBuffers) Bytes(size int) ([]byte, error) { return make([]byte, size), nil }

func (goBuffers) FreeBytes([]byte) error { return nil }

func run(w io.Writer, frames int, useMake bool) error {
	if frames < 1 {
		return fmt.Errorf("-frames must be at least 1, not %d", frames)
	}
	var from buffers = goBuffers{}
	if !useMake {
		h, err := heap.New(heap.WithName("frames"))
		if err != nil {
			return err
		}
		defer h.Close()
		from = h
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	times, err := drawAll(from, frames)
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	slices.Sort(times)
	fmt.Fprintf(w, "%d frames of %dx%d: median %v, 99th of 100 %v\n", frames, width, height, times[len(times)/2],
		times[len(times)*99/100])
	fmt.Fprintf(w, "garbage collections: %d\n", after.NumGC-before.NumGC)
	return nil
}

// drawAll draws frames, each into a buffer of its own, which is freed when it leaves the pipeline.
func drawAll(from buffers, frames int) ([]time.Duration, error) {
	times := make([]time.Duration, 0, frames)
	var pipeline [inFlight][]byte
	for frame := range frames {
		start := time.Now()
		slot := &pipeline[frame%inFlight]
		if err := from.FreeBytes(*slot); err != nil {
			return nil, err
		}
		b, err := from.Bytes(width * height * bytesPerPixel)
		if err != nil {
			return nil, err
		}
		draw(b, frame)
		*slot = b
		times = append(times, time.Since(start))
	}
	for _, b := range pipeline {
		if err := from.FreeBytes(b); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// draw fills a frame with rows of one colour each, which move.
func draw(b []byte, frame int) {
	const stride = width * bytesPerPixel
	for y := range height {
		row := b[y*stride : (y+1)*stride]
		row[0], row[1], row[2], row[3] = byte(y+frame), byte(y), byte(frame), 0xff
		for filled := bytesPerPixel; filled < stride; filled *= 2 {
			copy(row[filled:], row[:filled])
		}
	}
}
