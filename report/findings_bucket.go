package report

import "fmt"

// findings_bucket.go: the bucket allocator, which serves blocks of up to 128 bytes for everybody.
// The report prints the same allocator four times; it is judged once.

const failingPerFrame = 100 // no figure is documented; above this it is more than noise

func bucketFindings(c *reading) {
	if c.usage == nil {
		return
	}
	if b := c.usage.SharedBucket(); b != nil {
		if len(b.Rows) > 0 && b.Failed() > 0 {
			c.bucketFull(b)
		} else {
			c.bucketOversized(b)
		}
	}
}

func (c *reading) bucketFull(b *Bucket) {
	failed := b.Failed()
	header, exact := b.Header()
	f := Finding{ID: "bucket-full", Subject: "ALLOC_BUCKET", Severity: Info, needsPlay: true,
		weight: 100 * rateWeight(failed, c.frames),
		Title: fmt.Sprintf("The pool for small objects is full: %s requests (%s) took a slower way.",
			Thousands(failed), perFrame(failed, c.frames)),
		Meaning: "Objects of up to 128 bytes come from a pool that needs no lock. When it is full " +
			"the ordinary heap serves them, which is slower and breaks memory into small pieces.",
		Evidence: bucketEvidence(b),
		SkipIf:   "the count stays the same in a longer run: failures while loading are no problem.",
	}
	switch {
	case c.frames == 0 && failed > 1e6, c.frames > 0 && failed > failingPerFrame*c.frames:
		f.Severity = Problem
	case failed > fewHundred && (c.frames == 0 || failed > c.frames):
		f.Severity = Advice
	}
	f.Unknown = "Unity documents no number that is too many; what counts is whether it grows " +
		"during play (granary compare SHORT LONG)."
	if len(b.Rows) > 0 && b.Rows[0].Size > 16 {
		f.Unknown = join(f.Unknown, "The excerpt starts inside the table: there are more failures.")
	}
	if exact && header > 0 {
		f.Severity = min(f.Severity, Advice)
		f.Actions = nil
		f.Steps = []string{"Measure a release build before changing anything."}
		f.Unknown = join(f.Unknown, fmt.Sprintf("This is a development build: every object carries "+
			"%d extra bytes, so the pool fills earlier than in a release build.", header))
		f.Effect = "Nothing to change before a release build was measured."
	} else {
		c.raiseBucket(b, &f)
	}
	c.add(f)
}

// bucketEvidence shows the block and the two rows that failed most.
func bucketEvidence(b *Bucket) []LogLine {
	evidence := lines(sizeLine("Large Block size", b.Block), countLine("Used Block count", b.Used),
		sizeLine("Peak Allocated bytes", b.Peak))
	first, second := -1, -1
	var subsections int64
	widest := 0
	for i, row := range b.Rows {
		subsections += row.Subsections
		if row.Subsections > b.Rows[widest].Subsections {
			widest = i
		}
		switch {
		case first < 0 || row.Failed > b.Rows[first].Failed:
			first, second = i, first
		case second < 0 || row.Failed > b.Rows[second].Failed:
			second = i
		}
	}
	for _, i := range []int{first, second} {
		if i >= 0 && b.Rows[i].Failed > 0 {
			row := b.Rows[i]
			evidence = append(evidence, LogLine{Line: row.Line, Text: fmt.Sprintf(
				"%dB: %d Subsections = %d buckets. Failed count: %d", row.Size, row.Subsections,
				row.Buckets, row.Failed)})
		}
	}
	if row := b.Rows[widest]; row.Subsections*2 > subsections && len(b.Rows) > 1 {
		evidence = append(evidence, LogLine{Line: row.Line, Text: fmt.Sprintf("%d of %d subsections "+
			"serve objects of %d bytes, which leaves little for the others", row.Subsections,
			subsections, row.Size)})
	}
	return evidence
}

// raiseBucket proposes a larger block: twice, or four times when it fails very often.
func (c *reading) raiseBucket(b *Bucket, f *Finding) {
	block := b.Block.Bytes
	if !b.Block.Known() {
		block = settingByKey("bucket-allocator-block-size").fallback(c.build)
		f.Unknown = join(f.Unknown, "The excerpt lacks the block size; the default is assumed.")
	}
	value := 2 * powerOfTwoAtLeast(block)
	if c.frames > 0 && b.Failed() > 10*failingPerFrame*c.frames {
		value *= 2
	}
	f.Actions = []Action{newAction("bucket-allocator-block-size", value, block)}
	f.Bytes = value - block
	f.Steps = []string{fmt.Sprintf("More blocks of the same size do the same: "+
		"%sbucket-allocator-block-count=%d.", settingPrefix, 1+max(1, b.Used.N))}
	f.Effect = fmt.Sprintf("Costs %s; run again and see whether the count falls.",
		FormatBytes(f.Bytes))
}

// bucketOversized finds a block of which most was never used.
func (c *reading) bucketOversized(b *Bucket) {
	if !b.Block.Known() || !b.Peak.Known() || b.Used.N != 1 || b.Block.Bytes < 8<<20 {
		return
	}
	value := max(4<<20, powerOfTwoAtLeast(b.Peak.Max()+b.Peak.Max()/4))
	saved := b.Block.Bytes - value
	if saved < 4<<20 {
		return
	}
	c.add(Finding{ID: "bucket-oversized", Subject: "ALLOC_BUCKET", Severity: Advice, needsPlay: true,
		weight: float64(saved) / (1 << 20), Bytes: -saved,
		Title: fmt.Sprintf("The pool for small objects is %s large, but never held more than %s.",
			b.Block, b.Peak),
		Meaning:  "The block is taken at start, used or not.",
		Evidence: bucketEvidenceShort(b),
		Actions:  []Action{newAction("bucket-allocator-block-size", value, b.Block.Bytes)},
		Effect:   fmt.Sprintf("Saves up to %s.", FormatBytes(saved)),
		SkipIf:   "memory is not short.",
	})
}

func bucketEvidenceShort(b *Bucket) []LogLine {
	return lines(sizeLine("Large Block size", b.Block), countLine("Used Block count", b.Used),
		sizeLine("Peak Allocated bytes", b.Peak))
}
