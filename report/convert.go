package report

import "strings"

// convert.go: from gathered sections to a Usage. Where an excerpt lacks the name of a section, the
// fixed order of sections often tells it; such names are marked as guessed.

// convert turns the sections of one block, in their order, into a Usage.
func convert(sections []*section) *Usage {
	stacks := 0
	for _, s := range sections {
		if s.kind() == classStack {
			stacks++
		}
	}
	u := &Usage{Stacks: make([]Stack, 0, stacks)}
	var dual *Dual     // the dual thread allocator that heaps and buckets go to
	var bucket *Bucket // one whose dual thread allocator is still to come
	flush := func() {
		if bucket != nil {
			u.Duals = append(u.Duals, Dual{Bucket: bucket})
			bucket = nil
		}
	}
	for i, s := range sections {
		var next *section
		if i+1 < len(sections) {
			next = sections[i+1]
		}
		name := s.title(next)
		class := s.kind()
		if class != classHeap && class != classBucket {
			flush()
		}
		switch class {
		case classStackHead:
			u.TempLine = s.line
		case classStack:
			u.Stacks = append(u.Stacks, s.stack(name))
		case classLinear:
			u.Linears = append(u.Linears, s.linear(name))
			dual = nil
		case classDual:
			u.Duals = append(u.Duals, Dual{Name: name, Deferred: s.counts[fieldDeferred]})
			dual = &u.Duals[len(u.Duals)-1]
		case classBucket:
			flush()
			dual, bucket = u.placeBucket(s.bucket(name), dual)
		case classHeap:
			dual, bucket = u.placeHeap(s.heap(name), dual, bucket)
		}
	}
	flush()
	return u
}

// placeBucket gives the bucket allocator to the allocator printed before it, or returns it as one
// that waits for the next heap.
func (u *Usage) placeBucket(b *Bucket, dual *Dual) (*Dual, *Bucket) {
	if strings.HasPrefix(b.Text, "ALLOC_PROFILER") {
		if last := len(u.Heaps) - 1; last >= 0 && strings.HasPrefix(u.Heaps[last].Text,
			"ALLOC_PROFILER") {
			u.Heaps[last].Bucket = b
		} else {
			u.Heaps = append(u.Heaps, Heap{Bucket: b})
		}
		return dual, nil
	}
	if dual != nil && dual.Bucket == nil && dual.Main == nil && dual.Thread == nil {
		dual.Bucket = b
		return dual, nil
	}
	return nil, b
}

// placeHeap gives a _MAIN or _THREAD heap to its dual thread allocator, which an excerpt may lack.
func (u *Usage) placeHeap(h *Heap, dual *Dual, bucket *Bucket) (*Dual, *Bucket) {
	base, isMain := strings.CutSuffix(h.Text, "_MAIN")
	isThread := false
	if !isMain {
		base, isThread = strings.CutSuffix(h.Text, "_THREAD")
	}
	if !isMain && !isThread {
		u.Heaps = append(u.Heaps, *h)
		return nil, bucket
	}
	if dual == nil || dual.Text != base || bucket != nil {
		u.Duals = append(u.Duals, Dual{Name: Name{Text: base, Guessed: true}, Bucket: bucket})
		dual = &u.Duals[len(u.Duals)-1]
	}
	if isMain {
		dual.Main = h
	} else {
		dual.Thread = h
	}
	return dual, nil
}

// kind is the class of the section; the fields decide where the name does not.
func (s *section) kind() class {
	if s.class != classUnknown {
		return s.class
	}
	switch {
	case s.has(fieldCurrent), s.has(fieldOverflow):
		return classStack
	case s.has(fieldTooLarge), s.has(fieldFull), s.has(fieldInitial) && s.has(fieldUsed):
		return classLinear
	case s.has(fieldRequested), s.has(fieldPeakBlocks), s.has(fieldPeakMemory), s.has(fieldPeakLarge):
		return classHeap
	case s.has(fieldLarge), s.has(fieldLayout), s.has(fieldUsed), len(s.rows) > 0:
		return classBucket
	case s.has(fieldDeferred):
		return classDual
	case s.has(fieldInitial), s.has(fieldPeakBytes):
		return classStack
	}
	return classHeap // a lone histogram, or a name of which nothing is known
}

// title is the printed name, or the one that the section behind gives away.
func (s *section) title(next *section) Name {
	if s.name != "" {
		return Name{Text: s.name, Line: s.line}
	}
	guess := ""
	switch s.kind() {
	case classStack:
		if s.frames.Line != 0 {
			guess = mainStack // no other stack has a histogram
		}
	case classHeap:
		guess = heapBefore(next)
	case classLinear:
		guess = linearBefore(next)
	case classBucket:
		guess = "ALLOC_BUCKET"
	case classDual:
		if next != nil && next.class == classHeap {
			guess = strings.TrimSuffix(next.name, "_MAIN")
		}
	}
	return Name{Text: guess, Line: s.line, Guessed: true}
}

// heapBefore is the heap that every report prints right before the section.
func heapBefore(next *section) string {
	if next == nil {
		return ""
	}
	switch {
	case next.class == classHeap && strings.HasSuffix(next.name, "_THREAD"):
		return strings.TrimSuffix(next.name, "_THREAD") + "_MAIN"
	case next.name == "ALLOC_DEFAULT":
		return "ALLOC_MEMORYPROFILER"
	case next.name == "ALLOC_TEMP_JOB_1_FRAME":
		return "ALLOC_DEFAULT_THREAD"
	case next.name == "ALLOC_CACHEOBJECTS":
		return "ALLOC_GFX_THREAD"
	case next.name == "ALLOC_TYPETREE":
		return "ALLOC_CACHEOBJECTS_THREAD"
	case next.name == "ALLOC_PROFILER":
		return "ALLOC_TYPETREE_THREAD"
	}
	return ""
}

// linearBefore is the linear allocator that every report prints right before the section.
func linearBefore(next *section) string {
	if next == nil {
		return ""
	}
	switch {
	case next.name == "ALLOC_TEMP_JOB_2_FRAMES":
		return "ALLOC_TEMP_JOB_1_FRAME"
	case strings.HasPrefix(next.name, "ALLOC_TEMP_JOB_4"):
		return "ALLOC_TEMP_JOB_2_FRAMES"
	case strings.HasPrefix(next.name, "ALLOC_TEMP_JOB_ASYNC"):
		return jobTempName
	case next.name == "ALLOC_GFX":
		return backgroundName
	}
	return ""
}

const (
	jobTempName    = "ALLOC_TEMP_JOB_4_FRAMES (JobTemp)"
	backgroundName = "ALLOC_TEMP_JOB_ASYNC (Background)"
)

func (s *section) stack(name Name) Stack {
	return Stack{Name: name, Threads: s.times, Frames: s.frames, Initial: s.size(fieldInitial),
		Current: s.size(fieldCurrent), Peak: s.size(fieldPeakBytes),
		Overflow: s.counts[fieldOverflow]}
}

func (s *section) linear(name Name) Linear {
	return Linear{Name: name, Block: s.size(fieldInitial), Used: s.counts[fieldUsed],
		TooLarge: s.counts[fieldTooLarge], Full: s.counts[fieldFull]}
}

func (s *section) bucket(name Name) *Bucket {
	return &Bucket{Name: name, Block: s.size(fieldLarge), Used: s.counts[fieldUsed],
		Peak: s.size(fieldPeakBytes), Layout: s.layout, Rows: s.rows}
}

func (s *section) heap(name Name) *Heap {
	return &Heap{Name: name, Frames: s.frames, Block: s.size(fieldRequested),
		Blocks: s.counts[fieldPeakBlocks], Peak: s.size(fieldPeakMemory),
		Large: s.size(fieldPeakLarge)}
}
