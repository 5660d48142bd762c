package main

// #include "objects.h"
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// stopSignal is the number by which libgc.so.1 stops threads: the program's own signals of that number still come.
const stopSignal = syscall.Signal(43)

// health are goroutines that use what Go needs signals and threads for, until the rest of the program is done.
type health struct {
	stop  chan struct{}
	group sync.WaitGroup
	parts []*part
}

type part struct {
	name   string
	rounds atomic.Int64
}

func startHealth() *health {
	h := &health{stop: make(chan struct{})}
	h.start("timers", ticks)
	h.start("child processes", child)
	h.start("signals", notified(syscall.SIGUSR1))
	h.start("signals of the collector's number", notified(stopSignal))
	h.start("faults", fault)
	h.start("profiles", profile)
	h.start("collections of Go's", func() { runtime.GC(); C.collect() })
	h.start("computing", compute)
	return h
}

// start has a goroutine call round again and again, at least three times.
func (h *health) start(name string, round func()) {
	p := &part{name: name}
	h.parts = append(h.parts, p)
	h.group.Go(func() {
		for {
			round()
			if p.rounds.Add(1) < 3 {
				continue
			}
			select {
			case <-h.stop:
				return
			default:
			}
		}
	})
}

func (h *health) finish() {
	close(h.stop)
	h.group.Wait()
	for _, p := range h.parts {
		fmt.Printf("%s: %v\n", p.name, p.rounds.Load() >= 3)
	}
}

func fail(format string, arguments ...any) {
	fmt.Printf(format+"\n", arguments...)
	os.Exit(1)
}

func ticks() {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for range 5 {
		<-ticker.C
	}
}

// child is a process that Go makes with vfork; a program's text is long enough for several reads of its output.
func child() {
	onStack("before a child", 5, 11, 0)
	text := strings.Repeat("some words to send there and back\n", 4000)
	command := exec.Command("/bin/cat")
	command.Stdin = strings.NewReader(text)
	output, err := command.Output()
	if err != nil || !bytes.Equal(output, []byte(text)) {
		fail("cat: %v, %d bytes", err, len(output))
	}
	if err := exec.Command("/bin/sh", "-c", "exit 3").Run(); err == nil || err.(*exec.ExitError).ExitCode() != 3 {
		fail("sh: %v", err)
	}
}

// notified sends the program a signal and waits for it.
func notified(number syscall.Signal) func() {
	come := make(chan os.Signal, 1)
	signal.Notify(come, number)
	return func() {
		if err := syscall.Kill(syscall.Getpid(), number); err != nil {
			fail("kill: %v", err)
		}
		<-come
		onStack("after a signal", 5, 12, 0)
	}
}

// fault is a SIGSEGV that Go makes a panic of.
func fault() {
	defer func() {
		if _, ok := recover().(runtime.Error); !ok {
			fail("no panic from a fault")
		}
	}()
	onStack("before a fault", 5, 13, 0)
	var nowhere *part
	nowhere.rounds.Add(1)
}

// profile sends SIGPROF to the threads that compute.
func profile() {
	var data bytes.Buffer
	if err := pprof.StartCPUProfile(&data); err != nil {
		fail("profile: %v", err)
	}
	for seed := range uint64(5) {
		onStack("in a profile", 8, seed, 0)
	}
	pprof.StopCPUProfile()
}

// compute runs without a call: Go must preempt it by a signal.
func compute() {
	x := uint64(1)
	for range 3_000_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	if x == 0 {
		fail("impossible")
	}
}
