package object

import "testing"

type thing struct {
	Number int
	Other  Var[thing]
	Name   String
}

func TestSmoke(t *testing.T) {
	ty := NewType[thing]("thing")
	a, b := ty.New(), ty.New()
	b.Must().Other.Set(a)
	if err := b.Must().Name.Set("hello"); err != nil {
		t.Fatal(err)
	}
	Delete(&a)
	if !b.Must().Other.IsNull() {
		t.Fatal("not null")
	}
	if ty.Unreleased() != 1 {
		t.Fatal(ty.Unreleased())
	}
	_, err := b.Must().Other.Get()
	t.Log(err)
	Delete(&b)
	if w := world.Check(); w != "" {
		t.Fatal(w)
	}
	if ty.Unreleased() != 0 || ty.Count() != 0 {
		t.Fatal("left")
	}
}

type unit struct{ X, Y, Z, W, a, b, c, d int64 }

var sink int64

func BenchmarkNewDelete(b *testing.B) {
	for _, o := range []struct {
		name string
		opts []Option
	}{{"shared", nil}, {"owned", []Option{WithSingleOwner()}}} {
		ty := NewType[unit]("unit", o.opts...)
		b.Run(o.name+"/pair", func(b *testing.B) {
			defer reportCPU(b, cpuNow(), b.N)
			for range b.N {
				r := ty.New()
				Delete(&r)
			}
		})
		b.Run(o.name+"/get", func(b *testing.B) {
			r := ty.New()
			r.Must().X = 3
			sum := int64(0)
			defer reportCPU(b, cpuNow(), b.N)
			for range b.N {
				p, err := r.Get()
				if err != nil {
					b.Fatal(err)
				}
				sum += p.X
			}
			sink = sum
			Delete(&r)
		})
		n := 1_000_000
		for range n {
			ty.New()
		}
		b.Run(o.name+"/each", func(b *testing.B) {
			count, c0 := 0, cpuNow()
			for range b.N {
				for r := range ty.Each() {
					_ = r
					count++
				}
			}
			reportCPU(b, c0, count)
		})
		b.Run(o.name+"/all", func(b *testing.B) {
			count, c0 := 0, cpuNow()
			for range b.N {
				for _, p := range ty.All() {
					sink += p.X
					count++
				}
			}
			reportCPU(b, c0, count)
		})
		ty.DeleteEach()
	}
}
