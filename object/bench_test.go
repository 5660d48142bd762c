package object

import "testing"

// This file: what a call costs. bench/object compares it with peers.

type benchThing struct {
	ID   int64
	Rest [7]int64
}

var benchSum int64

// benchKinds runs a benchmark with a type of each kind.
func benchKinds(b *testing.B, run func(b *testing.B, things *Type[benchThing])) {
	for _, kind := range []struct {
		name    string
		options []Option
	}{{"shared", nil}, {"owned", []Option{WithSingleOwner()}}} {
		things := NewType[benchThing](kind.name, kind.options...)
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			run(b, things)
		})
		things.DeleteEach()
		things.Trim()
	}
}

func BenchmarkNewDelete(b *testing.B) {
	benchKinds(b, func(b *testing.B, things *Type[benchThing]) {
		for range b.N {
			r := things.New()
			Delete(&r)
		}
	})
}

func BenchmarkGet(b *testing.B) {
	benchKinds(b, func(b *testing.B, things *Type[benchThing]) {
		r, sum := things.New(), int64(0)
		for range b.N {
			p, err := r.Get()
			if err != nil {
				b.Fatal(err)
			}
			sum += p.ID
		}
		benchSum = sum
		Delete(&r)
	})
}

func BenchmarkSet(b *testing.B) {
	benchKinds(b, func(b *testing.B, things *Type[benchThing]) {
		x, y := things.New(), things.New()
		var v Var[benchThing]
		for i := range b.N {
			if i%2 == 0 {
				v.Set(x)
			} else {
				v.Set(y)
			}
		}
		v.Clear()
	})
}

// BenchmarkEach has nanoseconds an object of a million.
func BenchmarkEach(b *testing.B) {
	const objects = 1_000_000
	benchKinds(b, func(b *testing.B, things *Type[benchThing]) {
		for things.Count() < objects {
			things.New()
		}
		visited := 0
		for b.Loop() {
			for range things.Each() {
				visited++
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(visited), "ns/object")
	})
}
