package object

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// This file: many goroutines at once; with -race the detector looks as well.

// hammer runs f in so many goroutines that begin at the same time, on fewer processors.
func hammer(goroutines int, f func(goroutine int, random *rand.Rand)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(goroutines/2, 1)))
	begin := make(chan struct{})
	var end sync.WaitGroup
	for i := range goroutines {
		end.Go(func() {
			<-begin
			f(i, rand.New(rand.NewPCG(uint64(i), 1)))
		})
	}
	close(begin)
	end.Wait()
}

func TestReferencesAreReadWhileObjectsComeAndGo(t *testing.T) {
	kinds := []*Type[[4]uint64]{NewType[[4]uint64]("a"), NewType[[4]uint64]("b")}
	const refs = 64
	var mu sync.Mutex
	var board [refs]Ref[[4]uint64]
	hammer(6, func(goroutine int, random *rand.Rand) {
		for range 4000 {
			i := random.IntN(refs)
			mu.Lock()
			r := board[i]
			mu.Unlock()
			if goroutine < 3 { // looks only
				if p, err := r.Get(); (p == nil) != errors.Is(err, ErrNotExist) {
					t.Errorf("%v, %v", p, err)
				}
				r.Equal(board0(&mu, &board, i))
				continue
			}
			kind := kinds[random.IntN(2)]
			switch random.IntN(6) {
			case 0, 1, 2:
				made := kind.New()
				mu.Lock()
				board[i], made = made, board[i]
				mu.Unlock()
				Delete(&made)
			case 3:
				Delete(&r)
			case 4:
				visited := 0
				for r := range kind.Each() {
					if visited++; visited == 40 {
						break
					}
					if random.IntN(100) == 0 {
						Delete(&r)
					}
				}
			case 5:
				if h := Handle(r); h != 0 {
					kind.FromHandle(h)
				}
			}
		}
	})
	for _, kind := range kinds {
		kind.DeleteEach()
		if kind.Count() != 0 || kind.Unreleased() != 0 {
			t.Errorf("%d are left, %d unreleased", kind.Count(), kind.Unreleased())
		}
	}
	mustBeFine(t)
}

func board0(mu *sync.Mutex, board *[64]Ref[[4]uint64], i int) Ref[[4]uint64] {
	mu.Lock()
	defer mu.Unlock()
	return board[i]
}

func TestVariablesOfManyGoroutinesHoldTheSameObjects(t *testing.T) {
	things := NewType[thing]("thing")
	shared := newThings(things, 50)
	hammer(4, func(goroutine int, random *rand.Rand) {
		var own [8]Var[thing]
		for range 5000 {
			v := &own[random.IntN(len(own))]
			switch random.IntN(4) {
			case 0, 1:
				v.Set(shared[random.IntN(len(shared))])
			case 2:
				v.Clear()
			case 3:
				if random.IntN(50) == 0 {
					Delete(v)
				}
				if !v.IsNull() {
					things.After(v.Ref())
				}
			}
		}
		for i := range own {
			own[i].Clear()
		}
	})
	for _, r := range shared {
		if !r.IsNull() && world.CountOf(refOf(r)) != 1 {
			t.Errorf("%v is held %d times", r, world.CountOf(refOf(r)))
		}
	}
	things.DeleteEach()
	if things.Unreleased() != 0 {
		t.Errorf("%d unreleased", things.Unreleased())
	}
	mustBeFine(t)
}

// Each goroutine has types of its own, without locks; handles are common to all.
func TestTypesWithSingleOwnersBesideEachOther(t *testing.T) {
	hammer(4, func(goroutine int, random *rand.Rand) {
		things := NewType[thing]("own", WithSingleOwner())
		for range 20_000 {
			r := things.New()
			if random.IntN(2) == 0 {
				Handle(r)
			}
			if random.IntN(3) == 0 {
				r.Must().Other.Set(things.First())
			}
			if random.IntN(2) == 0 {
				first := things.First()
				Delete(&first)
			}
		}
		things.DeleteEach()
		if things.Count() != 0 || things.Unreleased() != 0 {
			t.Errorf("%d are left, %d unreleased", things.Count(), things.Unreleased())
		}
		things.Trim()
	})
	mustBeFine(t)
}

func TestTrimBesideReadersAndWriters(t *testing.T) {
	kind := NewType[[64]uint64]("trimmed")
	hammer(4, func(goroutine int, random *rand.Rand) {
		var kept Ref[[64]uint64]
		for i := range 1500 {
			if goroutine == 0 {
				kind.Trim()
				continue
			}
			if p, err := kept.Get(); err == nil && p[63] != uint64(goroutine) {
				t.Errorf("%v has %d", kept, p[63])
			}
			r := kind.New()
			r.Must()[63] = uint64(goroutine)
			if i%2 == 0 {
				Delete(&r)
			} else {
				Delete(&kept)
				kept = r
			}
		}
	})
	kind.DeleteEach()
	kind.Trim()
	mustBeFine(t)
}

// TestTrimBesideLargeObjects has objects whose slots are cleared without the lock: a chunk in which one is being made
// is in use.
func TestTrimBesideLargeObjects(t *testing.T) {
	kind := NewType[[1024]uint64]("large and trimmed")
	hammer(4, func(goroutine int, random *rand.Rand) {
		for range 20_000 {
			if goroutine == 0 {
				kind.Trim()
				continue
			}
			r := kind.New()
			if fields := r.Must(); fields[0] != 0 || fields[1023] != 0 {
				t.Errorf("%v is not cleared", r)
			} else {
				fields[0], fields[1023] = 1, 1
			}
			Delete(&r)
		}
	})
	kind.Trim()
	mustBeFine(t)
}
