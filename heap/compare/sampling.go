package main

import (
	"fmt"
	"slices"
	"unsafe"

	"granary/heap"
)

// sampling measures what the heap profile costs at its default rate: the same loops on a heap that takes samples and
// on one that takes none, in turns, as pieces short enough that the least of many is one that nothing disturbed. A
// piece hands out several times the distance between two samples, so that it holds its share of them.
func sampling(rounds int) error {
	with, err := heap.New(heap.WithTicker(false))
	if err != nil {
		return err
	}
	defer with.Close()
	without, err := heap.New(heap.WithTicker(false), heap.WithProfileRate(0))
	if err != nil {
		return err
	}
	defer without.Close()
	fmt.Printf("\nPairs with and without the heap profile, CPU nanoseconds, least and median of %d pieces\n\n",
		rounds*piecesARound)
	fmt.Print("| bytes | written | with | without | ratio of the least | of the medians |\n|---|---|---|---|---|---|\n")
	for _, written := range []bool{false, true} {
		if err := sampledSizes(rounds, with, without, written); err != nil {
			return err
		}
	}
	return nil
}

func sampledSizes(rounds int, with, without *heap.Heap, written bool) error {
	for _, size := range []int{64, 1 << 10, 4 << 10, 16 << 10} {
		var figures [2][]float64
		for range rounds * piecesARound {
			for i, h := range []*heap.Heap{with, without} {
				ns, err := pairs(h, size, written)
				if err != nil {
					return err
				}
				figures[i] = append(figures[i], ns)
			}
		}
		a, b := slices.Min(figures[0]), slices.Min(figures[1])
		fmt.Printf("| %d | %s | %.2f | %.2f | %.4f | %.4f |\n", size, part[written], a, b, a/b,
			median(figures[0])/median(figures[1]))
	}
	return nil
}

var part = map[bool]string{false: "one byte", true: "whole"}

const (
	piecesARound = 10
	pieceBytes   = 2 * heap.DefaultProfileRate
)

// pairs are as many pairs of Alloc and Free as it takes to hand out pieceBytes, and at least a hundred thousand.
// The block is written as a whole, or one byte of it.
func pairs(h *heap.Heap, size int, written bool) (float64, error) {
	count := max(pieceBytes/size, 100_000)
	before := cpu()
	for range count {
		p, err := h.Alloc(size)
		if err != nil {
			return 0, err
		}
		if written {
			clear(unsafe.Slice((*byte)(p), size))
		} else {
			*(*byte)(p) = 1
		}
		h.Free(p)
	}
	return float64(cpu()-before) / float64(count), nil
}
