package main

import (
	"bytes"
	"strings"
	"testing"

	"granary/heap/heaptest"
)

func TestFramesAreDrawnAndFreed(t *testing.T) {
	if times, err := drawAll(heaptest.New(t), 5); err != nil || len(times) != 5 {
		t.Error(len(times), err)
	}
	b := make([]byte, width*height*bytesPerPixel)
	draw(b, 7)
	if want := bytes.Repeat([]byte{9, 2, 7, 0xff}, width); !bytes.Equal(b[2*len(want):3*len(want)], want) {
		t.Error("the third row is not of one colour")
	}
}

func TestTheProgramReports(t *testing.T) {
	for _, useMake := range []bool{false, true} {
		var text strings.Builder
		if err := run(&text, 4, useMake); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text.String(), "4 frames of 1280x720: median ") ||
			!strings.Contains(text.String(), "garbage collections: ") {
			t.Error(text.String())
		}
	}
	if err := run(&strings.Builder{}, 0, false); err == nil {
		t.Error("no frames were drawn")
	}
}
