package report

import (
	"fmt"
	"strings"
)

// findings_heap.go: the dynamic heaps. Each takes memory from the system in blocks of a set size;
// a request of half a block or more gets memory of its own instead.

const (
	manyBlocks       = 64        // a heap of more blocks gains from larger ones
	heapBlockMax     = 32 << 20  // no larger block is proposed; Unity's own limit is 256 MB
	heapBlockMin     = 1 << 20   // no smaller one either
	largeShare       = 256 << 20 // large requests worth a word
	cacheShare       = 256 << 20 // a file cache worth a word
	emptyBlockSaving = 4 << 20
	deferredMany     = 100_000
)

// heapKinds say which setting a heap's block comes from, and what the heap is for.
var heapKinds = map[string]struct{ key, plain string }{
	"ALLOC_DEFAULT_MAIN":   {"main-allocator-block-size", "the main heap (main thread)"},
	"ALLOC_DEFAULT_THREAD": {"thread-allocator-block-size", "the main heap (other threads)"},
	"ALLOC_GFX_MAIN":       {"gfx-main-allocator-block-size", "the graphics heap (main thread)"},
	"ALLOC_GFX_THREAD": {"gfx-thread-allocator-block-size",
		"the graphics heap (other threads)"},
	"ALLOC_CACHEOBJECTS_MAIN":   {"cache-allocator-block-size", "the file cache (main thread)"},
	"ALLOC_CACHEOBJECTS_THREAD": {"cache-allocator-block-size", "the file cache (other threads)"},
	"ALLOC_TYPETREE_MAIN":       {"typetree-allocator-block-size", "the type trees (main thread)"},
	"ALLOC_TYPETREE_THREAD":     {"typetree-allocator-block-size", "the type trees (other threads)"},
	"ALLOC_PROFILER":            {"profiler-allocator-block-size", "the profiler"},
	"ALLOC_PROFILER_EDITOR":     {"profiler-editor-allocator-block-size", "the Editor's profiler"},
	"ALLOC_MEMORYPROFILER":      {"", "the memory profiler"},
}

// PlainName says in plain words what an allocator or thread is for.
func PlainName(name string) string {
	if kind, ok := heapKinds[name]; ok {
		return kind.plain
	}
	switch {
	case name == "":
		return "a section whose name is cut off"
	case name == backgroundName:
		return "background job memory"
	case name == jobTempName:
		return "job memory (TempJob)"
	case strings.HasPrefix(name, "ALLOC_TEMP_JOB_"):
		return "job memory (" + strings.ToLower(name[len("ALLOC_TEMP_JOB_"):]) + ")"
	case strings.HasPrefix(name, "ALLOC_TEMP_"):
		return "scratch memory of " + groupOf(name).name
	case strings.HasSuffix(name, "BUCKET"):
		return "the pool for small objects"
	}
	return name
}

func heapFindings(c *reading) {
	if c.usage == nil {
		return
	}
	byKey := map[string][]*Heap{}
	var keys []string
	for _, h := range c.usage.AllHeaps() {
		c.heapSpike(h)
		c.heapLarge(h)
		kind := heapKinds[h.Text]
		if kind.key == "" {
			continue
		}
		if byKey[kind.key] == nil {
			keys = append(keys, kind.key)
		}
		byKey[kind.key] = append(byKey[kind.key], h)
	}
	if !c.mimallocRules() {
		for _, key := range keys {
			c.heapManyBlocks(key, byKey[key])
			c.heapEmpty(key, byKey[key])
		}
	}
	c.fileCache()
	c.deferred()
}

func heapEvidence(h *Heap) []LogLine {
	return lines(nameLine(h.Name), sizeLine("Requested Block Size", h.Block),
		countLine("Peak Block count", h.Blocks), sizeLine("Peak Allocated memory", h.Peak),
		sizeLine("Peak Large allocation bytes", h.Large))
}

// inBlocks is what the heap held inside its blocks.
func (h *Heap) inBlocks() int64 { return max(0, h.Peak.Bytes-h.Large.Bytes) }

// heapManyBlocks proposes larger blocks for a heap made of very many.
func (c *reading) heapManyBlocks(key string, heaps []*Heap) {
	var worst *Heap
	for _, h := range heaps {
		if h.Block.Known() && h.Block.Bytes > 0 && h.Blocks.N >= manyBlocks &&
			(worst == nil || h.Blocks.N > worst.Blocks.N) {
			worst = h
		}
	}
	if worst == nil {
		return
	}
	value := min(heapBlockMax, powerOfTwoAtLeast(worst.Block.Bytes*worst.Blocks.N/manyBlocks+1))
	if value <= worst.Block.Bytes {
		return
	}
	c.add(Finding{ID: "heap-many-blocks", Subject: worst.Text, Severity: Advice,
		weight: float64(worst.Blocks.N) / 8, Evidence: heapEvidence(worst),
		Title: fmt.Sprintf("%s grew in %s small blocks of %s.", capitalised(PlainName(worst.Text)),
			Thousands(worst.Blocks.N), worst.Block),
		Meaning: "Each block is a request to the system, and memory at the ends of the blocks is " +
			"lost. Fewer, larger blocks are quicker to get and less broken up.",
		Actions: []Action{newAction(key, value, worst.Block.Bytes)},
		Bytes:   int64(len(heaps)) * (value - worst.Block.Bytes),
		Effect: fmt.Sprintf("Costs up to %s: the last block of each heap may be nearly empty. It "+
			"does not lower the peak.", FormatBytes(int64(len(heaps))*(value-worst.Block.Bytes))),
		SkipIf: "memory is short: then look at what is loaded, not at the blocks.",
		Unknown: "Requests of half a block or more get memory of their own; with larger blocks more " +
			"of them go inside, so the block count will not fall in proportion.",
	})
}

// heapEmpty finds heaps whose only block is next to empty.
func (c *reading) heapEmpty(key string, heaps []*Heap) {
	var used, taken, need int64
	var fullest *Heap
	for _, h := range heaps {
		if !h.Block.Known() || !h.Blocks.Known() || !h.Peak.Known() || h.Blocks.N > 1 {
			return
		}
		if h.Blocks.N == 1 {
			taken += h.Block.Bytes
		}
		used += h.inBlocks()
		if fullest == nil || h.inBlocks() > need {
			fullest, need = h, h.inBlocks()
		}
	}
	if taken == 0 {
		return
	}
	f := Finding{ID: "heap-empty-block", Subject: fullest.Text, Severity: Advice, needsPlay: true,
		Evidence: heapEvidence(fullest),
		SkipIf:   "memory is not short: an unused block costs no time.",
		Unknown: "How much of an unused block the system really backs with memory is not in the " +
			"report, so this is the most that can be saved."}
	if key == "typetree-allocator-block-size" {
		if need > 256<<10 || fullest.Block.Bytes == 0 {
			return
		}
		f.Bytes = -(taken - used)
		f.Actions = []Action{newAction(key, 0, fullest.Block.Bytes)}
		f.Title = fmt.Sprintf("The type trees have blocks of their own (%s) for %s of data.",
			FormatBytes(taken), FormatBytes(used))
		f.Meaning = "With a block size of 0 the main heap serves them, and the blocks are not taken."
		f.Effect = fmt.Sprintf("Saves up to %s; the main heap may become a little more broken up.",
			FormatBytes(taken-used))
		f.Severity = Info
	} else {
		// Four times the need: a request of half a block or more would go elsewhere.
		value := max(heapBlockMin, powerOfTwoAtLeast(2*(need+fullest.Peak.Margin)))
		saved := taken - int64(len(heaps))*value
		if value*4 > fullest.Block.Bytes || saved < emptyBlockSaving {
			return
		}
		f.Bytes = -saved
		f.Actions = []Action{newAction(key, value, fullest.Block.Bytes)}
		f.Title = fmt.Sprintf("%s took a block of %s and put %s into it.",
			capitalised(PlainName(fullest.Text)), fullest.Block, FormatBytes(need))
		f.Meaning = "A heap takes whole blocks from the system, however little it needs."
		f.Effect = fmt.Sprintf("Saves up to %s.", FormatBytes(saved))
	}
	f.weight = float64(-f.Bytes) / (1 << 20)
	c.add(f)
}

// heapLarge explains memory taken outside the blocks.
func (c *reading) heapLarge(h *Heap) {
	if h.Large.Bytes < largeShare || h.Large.Bytes*4 < h.Peak.Bytes {
		return
	}
	c.add(Finding{ID: "heap-large", Subject: h.Text, Severity: Info,
		weight: float64(h.Large.Bytes) / (1 << 20), Evidence: heapEvidence(h),
		Title: fmt.Sprintf("%s of %s went to single large requests.", h.Large, PlainName(h.Text)),
		Meaning: fmt.Sprintf("Requests of half a block (%s) or more get memory of their own and give "+
			"it back when freed. This is no leak and no setting cures it: look for large assets, "+
			"textures or buffers.", FormatBytes(h.Block.Bytes/2)),
		Effect: "Nothing to change in the settings.",
		SkipIf: "the program needs these buffers.",
	})
}

// heapSpike tells a peak of a few frames from the ordinary use.
func (c *reading) heapSpike(h *Heap) {
	total := h.Frames.Total()
	bins := h.Frames.Bins
	if total < thinFrames || len(bins) < 2 || h.Frames.Cut || h.Peak.Bytes < 64<<20 {
		return
	}
	allowed := max(1, total/1000)
	above, i := int64(0), len(bins)-1
	for ; i > 0 && above+bins[i].Frames <= allowed; i-- {
		above += bins[i].Frames
	}
	if above == 0 || bins[i].To.Bytes*2 > bins[len(bins)-1].From.Bytes {
		return
	}
	c.add(Finding{ID: "heap-spike", Subject: h.Text, Severity: Info,
		weight: float64(h.Peak.Bytes) / (1 << 20),
		Evidence: append(heapEvidence(h), LogLine{Line: h.Frames.Line, Text: fmt.Sprintf(
			"Peak usage frame count: %s of %s frames above %s", Thousands(above), Thousands(total),
			bins[i].To)}),
		Title: fmt.Sprintf("The peak of %s (%s) lasted %s; otherwise it stays below %s.",
			PlainName(h.Text), h.Peak, plural(above, "frame", "frames"), bins[i].To),
		Meaning: "The peak sets how much memory the program needs at that moment, not how much it " +
			"uses while playing. Look at what is loaded then.",
		Effect: "Nothing to change in the settings.",
	})
}

// fileCache says what a large file cache is.
func (c *reading) fileCache() {
	var cache, all int64
	var largest *Heap
	for _, h := range c.usage.AllHeaps() {
		all += h.Peak.Bytes
		if strings.HasPrefix(h.Text, "ALLOC_CACHEOBJECTS") {
			cache += h.Peak.Bytes
			if largest == nil || h.Peak.Bytes > largest.Peak.Bytes {
				largest = h
			}
		}
	}
	if largest == nil || cache < cacheShare || cache*3 < all {
		return
	}
	c.add(Finding{ID: "file-cache", Subject: largest.Text, Severity: Info,
		weight: float64(cache) / (1 << 20), Evidence: heapEvidence(largest),
		Title: fmt.Sprintf("The largest part, %s, is the file cache, not a leak.", FormatBytes(cache)),
		Meaning: "ALLOC_CACHEOBJECTS holds data of asset bundles and scene files while they are open. " +
			"It shrinks when bundles are unloaded.",
		Steps:  []string{"Unload asset bundles that are no longer needed; load fewer at one time."},
		Effect: "No block size makes it smaller.",
	})
}

// deferred reports a long queue of memory that the main thread had to free.
func (c *reading) deferred() {
	for i := range c.usage.Duals {
		d := &c.usage.Duals[i]
		if d.Deferred.N < deferredMany {
			continue
		}
		c.add(Finding{ID: "deferred-frees", Subject: d.Text, Severity: Info, weight: 20,
			Evidence: lines(nameLine(d.Name),
				countLine("Peak main deferred allocation count", d.Deferred)),
			Title: fmt.Sprintf("Once, %s objects of the main thread waited to be freed in %s.",
				Thousands(d.Deferred.N), d.Text),
			Meaning: "Memory of the main thread that another thread frees waits until the main thread " +
				"comes round. A long queue means that much was thrown away at once, as when a scene " +
				"is unloaded.",
			Effect:  "There is no setting for it.",
			Unknown: "Unity documents no number that is too many.",
		})
	}
}

// mimallocRules reports whether mimalloc serves the main heaps, which makes their block sizes moot.
func (c *reading) mimallocRules() bool { return c.report.Mimalloc != nil }
