package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// findings_test.go: each complaint that users bring to bug trackers, as a log, and what they must
// be told. The texts of the logs are the tests' own; the messages in them are Unity's.

// repeatLine writes a line count times; %d becomes the number of the line.
func repeatLine(count int, format string) string {
	var b strings.Builder
	for i := range count {
		b.WriteString(strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
		b.WriteByte('\n')
	}
	return b.String()
}

const (
	jobTempMessage = "Internal: JobTempAlloc has allocations that are more than 4 frames old - this " +
		"is not allowed and likely a leak"
	jobTempNewMessage = "Internal: JobTempAlloc has allocations that are more than the maximum " +
		"lifespan of 4 frames old - this is not allowed and likely a leak"
	jobTempHint = "To Debug, run app with -diag-job-temp-memory-leak-validation cmd line argument. " +
		"This will output the callstacks of the leaked allocations."
	jobTempOldHint = "To Debug, enable the define: TLA_DEBUG_STACK_LEAK in " +
		"ThreadsafeLinearAllocator.cpp. This will output the callstacks of the leaked allocations"
	lateMessage = "Internal: deleting an allocation that is older than its permitted lifetime of 4 " +
		"frames (age = 5)"
)

// stackSection is one thread's section in a report of so many frames.
func stackSection(name string, frames int, initial, current, peak string, overflow int) string {
	return fmt.Sprintf("    [%s]\n      Initial Block Size %s\n      Current Block Size %s\n"+
		"      Peak Allocated Bytes %s\n      Overflow Count %d\n", name, initial, current, peak,
		overflow) + frameCount(frames)
}

// frameCount is a heap that does nothing but tell the number of frames.
func frameCount(frames int) string {
	if frames == 0 {
		return ""
	}
	return fmt.Sprintf("[ALLOC_DEFAULT] Dual Thread Allocator\n    [ALLOC_DEFAULT_MAIN]\n      Peak "+
		"usage frame count: [16.0 MB-32.0 MB]: %d frames\n      Requested Block Size 16.0 MB\n      "+
		"Peak Block count 2\n      Peak Allocated memory 22.0 MB\n      Peak Large allocation bytes 0 B\n",
		frames)
}

// complaint is a log, and what the answer to it must and must not hold.
type complaint struct {
	log      string
	question Question
	id       string
	severity Severity
	says     []string // in any text of that finding
	action   string   // a line of boot.config that it must propose; "-": none at all
	not      []string // ids that must not come above info
}

var complaints = map[string]complaint{
	"01 life-time warning without a way to the culprit": {
		log: "Loading settings\n" + repeatLine(30, jobTempMessage+"\n\n(Filename: ./Runtime/Allocator/"+
			"ThreadsafeLinearAllocator.cpp Line: 372)\n\n"+jobTempOldHint+"\n\n(Filename: x Line: 374)\n"),
		id: "jobtemp-old", severity: Problem, action: "-",
		says: []string{"30 times", "no block size cures it", "Full Stack Traces", "TLA_DEBUG_STACK_LEAK",
			"only by Unity", jobTempSwitch, "Loading settings"}},
	"02 the same while training": {
		log: "Step: 50000. Mean Reward: 1.2\n" + jobTempMessage + "\n",
		id:  "jobtemp-old", severity: Problem, says: []string{"headless runs", "span frames"}},
	"03 a warning in every frame of a page": {
		log: repeatLine(50, `2857.%d WebContent(11976): (js warn) "`+jobTempNewMessage+`\n"`+"\n"+
			`2857.%d WebContent(11976): (js warn) "`+jobTempHint+`\n"`),
		id: "jobtemp-old", severity: Problem,
		says: []string{"50 times", "once a frame", "one leak that stays", "-diag-job-temp"}},
	"04 it starts when a headset is taken off": {
		log: "02-05 14:49:47.100 25189 25213 I VrApi   : HMD unmounted, onPause\n" +
			repeatLine(3, "02-05 14:49:48.%d56 25189 25213 W Unity   : "+jobTempNewMessage),
		id: "jobtemp-old", severity: Problem, says: []string{"pause or resume", "HMD unmounted"}},
	"05 a server owner fears for the host": {
		log: jobTempMessage + "\n", id: "jobtemp-old", severity: Problem,
		says: []string{"Only the developer", "128 MB", "log file that grows"}},
	"06 a hitch makes legal memory a leak": {
		log: "PersistenceV2 - Finished Saving\n" + jobTempMessage + "\n" + repeatLine(2, lateMessage),
		id:  "jobtemp-late-free", severity: Info, says: []string{"age 5", "no leak", "saving"},
		not: []string{"jobtemp-late-free"}},
	"06 a series without late frees is a leak": {
		log: repeatLine(100, jobTempMessage+"\nsomething else %d") + lateMessage + "\n",
		id:  "jobtemp-old", severity: Problem, says: []string{"100 times"}},
	"06 causes are counted": {
		log: repeatLine(3, "Autosave %d\n"+jobTempMessage) + repeatLine(2, "Loading level %d\n"+
			jobTempMessage),
		id: "jobtemp-old", severity: Problem,
		says: []string{"saving 3 times, scene loading 2 times", "a long frame"}},
	"07 an invalid pointer in Deallocate": {
		log: "12:08:13, Frame 21632, ERROR  Invalid memory pointer was detected in " +
			"ThreadsafeLinearAllocator::Deallocate!\n",
		id: "jobtemp-invalid", severity: Problem,
		says: []string{"Allocator.TempJob", "freed twice", "elsewhere", jobTempSwitch, "Leak Detection"}},
	"08 memory kept over a scene load": {
		log: "Loading scene Arena\n" + jobTempNewMessage + "\n",
		id:  "jobtemp-old", severity: Problem, says: []string{"Allocator.Persistent", "rewindable"}},
	"09 remaining allocations of an import worker": {
		log: "[Worker0] There are remaining Allocations on the JobTempAlloc. This is a leak, and will " +
			"impact performance\n",
		id: "jobtemp-remaining", severity: Info, says: []string{"import worker", "not by the game"}},
	"11 Temp memory not freed": {
		log: repeatLine(3, "TLS Allocator ALLOC_TEMP_TLS, underlying allocator ALLOC_TEMP_MAIN has "+
			"unfreed allocations, size 96\nInternal: Stack allocator ALLOC_TEMP_MAIN has unfreed "+
			"allocations, size 96\nTo Debug, run app with -diag-temp-memory-leak-validation cmd line "+
			"argument. This will output the callstacks of the leaked allocations.\nsomething"),
		id: "temp-unfreed", severity: Advice, action: "-",
		says: []string{"thread MAIN", "96 bytes", "3 times", "always the same", tempSwitch}},
	"11 with the switch on": {
		log: "TLS Allocator ALLOC_TEMP_TLS, underlying allocator ALLOC_TEMP_MAIN has unfreed " +
			"allocations, size 366\nAllocation of 366 bytes at 00000281\n  #0 Game.Foo\n",
		id: "temp-unfreed", severity: Advice, says: []string{"Allocation of 366 bytes", "366 bytes"}},
	"12 the same in Unity 2017": {
		log: "Assertion failed: TLS Allocator ALLOC_TEMP_THREAD, underlying allocator " +
			"ALLOC_TEMP_THREAD has unfreed allocations, size 102\n",
		id: "temp-unfreed", severity: Advice, says: []string{"102 bytes", "newer version"}},
	"13 a fix that cannot work": {
		log: "TLS Allocator ALLOC_TEMP_TLS, underlying allocator ALLOC_TEMP_MAIN has unfreed " +
			"allocations, size 679\n",
		id: "temp-unfreed", severity: Advice, says: []string{"GC.Collect", "Hiding the message"}},
	"14 the loading thread spills all the time": {
		log: stackSection("ALLOC_TEMP_Loading.PreloadManager", 56000, "256.0 KB", "0.5 MB", "511.9 KB",
			78110),
		id: "stack-overflow", severity: Advice, says: []string{"78,110 times", "1.4 a frame", "twice"},
		action: "memorysetup-temp-allocator-size-preload-manager=1048576"},
	"14 a few hundred are fine": {
		log: stackSection("ALLOC_TEMP_Loading.PreloadManager", 9000, "256.0 KB", "0.5 MB", "511.9 KB",
			300),
		id: "stack-overflow-fine", severity: Info, says: []string{"the loading thread 300"}, action: "-",
		not: []string{"stack-overflow"}},
	"15 the server does not start": {
		log: "Server startup complete\nShutdown handler: cleanup\nException: port in use\n" + sampleText,
		id:  "normal-goodbye", severity: Info,
		says: []string{"neither a crash nor an error", "above it", "Exception: port in use"}},
	"15 the container was killed": {
		log: sampleText + "game-1 exited with code 137\n", id: "crash-lines", severity: Problem,
		says: []string{"Exit code 137", "ran out of memory", "game-1 exited"}},
	"16 two messages glued to one": {
		log: "Failed to load il2cpp" + sampleText,
		id:  "error-before-report", severity: Problem, says: []string{`"Failed to load il2cpp"`}},
	"17 the list of settings taken for an error": {
		log: "[UnityMemory] Configuration Parameters - Can be set up in boot.config\n" +
			"    \"memorysetup-bucket-allocator-block-size=4194304\"\n" +
			"    \"memorysetup-job-temp-allocator-block-size=8388608\"\n",
		id: "start-list", severity: Info,
		says: []string{"not an error", "1 value differs", "block-size=8388608 (default 2097152)"}},
	"20 an Editor at the limit of the pool": {
		log: strings.ReplaceAll(strings.ReplaceAll(sampleText, "(full) 240500", "(full) 1"),
			"Initial Block Size 4.0 MB", "Initial Block Size 16.0 MB"),
		id: "linear-pool-maximum", severity: Info, says: []string{"All 64 blocks", "128 MB", "Optional"},
		not: []string{"linear-full", "linear-too-large"}},
	"21 requests too large with no use of the pool": {
		log: frameCount(221799) + "[ALLOC_TEMP_JOB_4_FRAMES (JobTemp)]\n  Initial Block Size 2.0 MB\n  " +
			"Used Block Count 1\n  Overflow Count (too large) 74\n  Overflow Count (full) 0\n",
		id: "linear-overflow-fine", severity: Info, says: []string{"too large", "exceeds them"},
		action: "-", not: []string{"linear-too-large"}},
	"22 the bucket allocator fails in every frame": {
		log: sampleText, id: "bucket-full", severity: Problem,
		says: []string{"2,179,992 requests", "218 a frame", "150 of 256 subsections",
			"16B: 150 Subsections", "grows during play"},
		action: "memorysetup-bucket-allocator-block-size=8388608"},
	"22 a development build": {
		log: frameCount(9000) +
			"[ALLOC_GFX] Dual Thread Allocator\n    [ALLOC_BUCKET]\n      Large Block " +
			"size 4.0 MB\n      Used Block count 1\n      Peak Allocated bytes 2.2 MB\n      Failed " +
			"Allocations. Bucket layout:\n        16B: 33 Subsections = 11264 buckets. Failed count: " +
			"2411996\n        32B: 34 Subsections = 8704 buckets. Failed count: 682052\n",
		id: "bucket-full", severity: Advice, action: "-",
		says: []string{"development build", "32 extra bytes", "release build"}},
	"23 the file cache taken for a leak": {
		log: sampleText, id: "file-cache", severity: Info,
		says: []string{"not a leak", "ALLOC_CACHEOBJECTS", "No block size"}},
	"23 a heap of many small blocks": {
		log: sampleText, id: "heap-many-blocks", severity: Advice, says: []string{"180 small blocks"},
		action: "memorysetup-cache-allocator-block-size=16777216"},
	"24 out of memory for a doubling buffer": {
		log: "Could not allocate memory: System out of memory!\nTrying to allocate: 2147483648B with " +
			"16 alignment. MemoryLabel: Physics\nAllocation happened at: Line:168 in \nMemory overview\n\n" +
			"[ ALLOC_DEFAULT ] used: 654354732B | peak: 0B | reserved: 737227708B \n" +
			"[ ALLOC_TEMP_JOB_4_FRAMES (JobTemp) ] used: 0B | peak: 0B | reserved: 2097152B \n",
		id: "out-of-memory", severity: Critical, action: "-",
		says: []string{`"Physics" asked for 2.00 GB`, "power of two", "705.1 MB", "Block sizes do not"}},
	"24 out of memory near 4 GB": {
		log: "Could not allocate memory: System out of memory!\nTrying to allocate: 6291483B with 16 " +
			"alignment. MemoryLabel: TempOverflow\nMemory overview\n\n[ ALLOC_DEFAULT ] used: " +
			"2659551038B | peak: 0B | reserved: 2746706346B\n[ ALLOC_GFX ] used: 332967392B | peak: 0B | " +
			"reserved: 336592916B\n[ ALLOC_CACHEOBJECTS ] used: 535051872B | peak: 0B | reserved: " +
			"555745280B\n",
		id: "out-of-memory", severity: Critical, says: []string{"32-bit", "TempOverflow is scratch"}},
	"24 a size that no machine has": {
		log: "Trying to allocate: 18446744070557600280B with 16 alignment. MemoryLabel: TempOverflow\n",
		id:  "out-of-memory", severity: Critical, says: []string{"computed wrongly"}},
	"25 waste on a machine with many cores": {
		log: frameCount(8540) + strings.ReplaceAll("Memory Statistics:\n"+repeatLine(31,
			"    [ALLOC_TEMP_Job.Worker %d]\n      Initial Block Size 256.0 KB\n      Current Block Size "+
				"256.0 KB\n      Peak Allocated Bytes 507 B\n      Overflow Count 0"), "\r", ""),
		id: "stack-oversized", severity: Advice, says: []string{"7.8 MB", "507 B", "31 threads",
			"6.8 MB"},
		action: "memorysetup-temp-allocator-size-job-worker=32768"},

	"the manual's linear example": {
		log: "[ALLOC_TEMP_JOB_4_FRAMES (JobTemp)]\n  Initial Block Size 0.5 MB\n  Used Block Count 64\n" +
			"  Overflow Count (too large) 0\n  Overflow Count (full) 50408\n",
		id: "linear-full", severity: Problem, says: []string{"50,408 requests", "at most 64 blocks"},
		action: "memorysetup-job-temp-allocator-block-size=1048576"},
	"the manual's main thread example": {
		log: "    [ALLOC_TEMP_MAIN]\n      Peak usage frame count: [16.0 KB-32.0 KB]: 802 frames, " +
			"[32.0 KB-64.0 KB]: 424 frames, [2.0 MB-4.0 MB]: 1 frames\n      Initial Block Size 4.0 MB\n" +
			"      Current Block Size 4.0 MB\n      Peak Allocated Bytes 2.7 MB\n      Overflow Count 0\n",
		id: "stack-oversized", severity: Advice, says: []string{"1 of 1,227 frames"},
		action: "memorysetup-temp-allocator-size-main=65536"},
	"linear overflow in every frame": {
		log: sampleText, id: "linear-full", severity: Problem, says: []string{"24.1 a frame",
			"Costs 128 MB"},
		action: "memorysetup-job-temp-allocator-block-size=4194304"},
	"a main thread that spills without need": {
		log: strings.ReplaceAll(sampleText, "Overflow Count 7\n", "Overflow Count 29631\n"),
		id:  "stack-overflow", severity: Advice, action: "-",
		says: []string{"only 10 of 10,000 frames", "does not tell which", "granary compare"}},
	"one oversize request is no full stack": {
		log: sampleText, id: "stack-overflow-fine", severity: Info, says: []string{"one single request"}},
	"a few frames say nothing": {
		log: strings.NewReplacer("10000 frames", "4 frames", "9000 frames", "1 frames", "950 frames",
			"1 frames", "40 frames", "1 frames", "9990 frames", "3 frames", ": 10 frames", ": 1 frames").
			Replace(sampleText),
		id: "short-run", severity: Info, says: []string{"only 4 frames"}, action: "-",
		not: []string{"bucket-full", "linear-full", "stack-overflow", "stack-oversized"}},
	"a device with a budget": {
		log: sampleText, question: Question{Budget: 512 << 20}, id: "budget", severity: Critical,
		says: []string{"more than the budget of 512 MB", "C# objects"}},
	"background memory against a budget": {
		log: sampleText, question: Question{Budget: 256 << 20}, id: "background-retained",
		severity: Advice, says: []string{"24 MB", "64 MB", "25 %"},
		action: "memorysetup-job-temp-allocator-block-size-background=524288"},
	"a budget below 2 GB brings another rule": {
		log: sampleText, question: Question{Budget: 1 << 30}, id: "low-memory-budget", severity: Info,
		says: []string{"job-temp-allocator-reduction-small-platforms"}},
	"a device that counts as low on memory": {
		log: strings.ReplaceAll(strings.ReplaceAll(sampleText, "  Initial Block Size 2.0 MB",
			"  Initial Block Size 256.0 KB"), "  Initial Block Size 1.0 MB",
			"  Initial Block Size 256.0 KB"),
		id: "low-memory-rule", severity: Info, says: []string{"no effect"}},
	"mimalloc makes two settings moot": {
		log: "heap stats:     peak       total     current       block      total#   \n" +
			"  reserved:     1.0 GiB     1.0 GiB     1.0 GiB                          \n" +
			" committed:    66.3 MiB    66.3 MiB    66.3 MiB                          \n",
		id: "mimalloc", severity: Info, says: []string{"66.3 MB", "main-allocator-block-size"}},
	"a peak of a few frames": {
		log: sampleText, id: "heap-spike", severity: Info, says: []string{"10 frames", "below 128.0 MB"}},
	"a long queue of frees": {
		log: sampleText, id: "deferred-frees", severity: Info, says: []string{"120,345", "no number"}},
	"a block that is next to empty": {
		log: sampleText, id: "heap-empty-block", severity: Advice, says: []string{"201.4 KB"},
		action: "memorysetup-gfx-main-allocator-block-size=1048576"},
}

// texts are all words of a finding.
func (f *Finding) texts() string {
	parts := []string{f.Title, f.Meaning, f.Effect, f.SkipIf, f.Unknown}
	parts = append(parts, f.Steps...)
	for _, e := range f.Evidence {
		parts = append(parts, e.Text)
	}
	for _, a := range f.Actions {
		parts = append(parts, a.BootLine())
	}
	return strings.Join(parts, "\n")
}

func TestEveryComplaintGetsItsAnswer(t *testing.T) {
	for name, c := range complaints {
		t.Run(name, func(t *testing.T) {
			findings := Analyze(readText(t, c.log), c.question)
			var ids []string
			found := false
			for i := range findings {
				f := &findings[i]
				ids = append(ids, f.ID)
				if slices.Contains(c.not, f.ID) && f.Severity > Info {
					t.Errorf("%s must not be more than information: %s", f.ID, f.Title)
				}
				if f.ID == c.id && !found {
					found = c.matches(f)
				}
			}
			if !found {
				for i := range findings {
					if findings[i].ID == c.id {
						t.Errorf("%v: %s\nwant %v, %q, action %q", findings[i].Severity,
							findings[i].texts(), c.severity, c.says, c.action)
					}
				}
				t.Errorf("no fitting %s among %v", c.id, ids)
			}
		})
	}
}

func (c *complaint) matches(f *Finding) bool {
	if f.Severity != c.severity {
		return false
	}
	for _, text := range c.says {
		if !strings.Contains(f.texts(), text) {
			return false
		}
	}
	switch {
	case c.action == "":
		return true
	case c.action == "-":
		return len(f.Actions) == 0
	}
	return slices.ContainsFunc(f.Actions, func(a Action) bool { return a.BootLine() == c.action })
}

func TestEveryFindingSaysWhatItMeansAndPointsAtLines(t *testing.T) {
	withoutLines := []string{"no-report", "short-run", "frames-differ", "not-a-release", "excerpt",
		"low-memory-budget", "reports-dropped"}
	for name, c := range complaints {
		log := readText(t, c.log)
		for _, f := range Analyze(log, c.question) {
			if f.Title == "" || f.Meaning == "" {
				t.Errorf("%s: %s lacks a title or a meaning", name, f.ID)
			}
			if len(f.Evidence) == 0 && !slices.Contains(withoutLines, f.ID) {
				t.Errorf("%s: %s shows no line", name, f.ID)
			}
			for _, e := range f.Evidence {
				if e.Line < 1 || e.Line > log.Facts.Lines {
					t.Errorf("%s: %s points at line %d of %d: %q", name, f.ID, e.Line,
						log.Facts.Lines, e.Text)
				}
			}
			if len(f.Actions) > 0 && (f.Effect == "" || f.SkipIf == "") {
				t.Errorf("%s: %s proposes a setting without its effect or when not to bother", name, f.ID)
			}
		}
	}
}

func TestKnownCausesMakeAWarningHarmless(t *testing.T) {
	text := "Barracuda: running layer 7\n" + jobTempMessage + "\n"
	log, err := Read(strings.NewReader(text), Options{Benign: []string{"Barracuda"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Analyze(log, Question{}) {
		if f.ID == "jobtemp-old" && (f.Severity != Info || !strings.Contains(f.Meaning, "Barracuda")) {
			t.Errorf("%v: %s", f.Severity, f.Meaning)
		}
	}
}

func TestABadlyCutOrEmptyLogGetsAnAnswer(t *testing.T) {
	for _, test := range []struct{ name, log, says string }{
		{"empty", "", "The file is empty"},
		{"binary", strings.Repeat("\x7fELF\x00\x00\x01\x00\n", 400), "This is no text file"},
		{"Unity 6", "Initialize engine version: 6000.0.46f1 (abc)\nbye\n",
			"Unity 6 writes it only when asked"},
		{"Unity 6 with the switch", "Initialize engine version: 6000.0.46f1 (abc)\ngame " +
			"-log-memory-performance-stats\n", "although the switch was given"},
		{"Unity 2019", "Initialize engine version: 2019.2.17f1 (abc)\n", "does not have it"},
		{"killed", "Initialize engine version: 2022.3.9f1 (abc)\nUpdate\n", "probably killed"},
		{"crash", "Initialize engine version: 2022.3.9f1 (abc)\n========== OUTPUTTING STACK TRACE " +
			"==================\n", "crashed before"},
		{"signal", "Caught fatal signal - signo:11 code:1\n", "crashed before"},
		{"cut behind the heading", "bye\nMemory Statistics:\n", "right behind the heading"},
		{"out of memory", "Could not allocate memory: System out of memory!\n", "ran out of memory"},
		{"only the list", "    \"memorysetup-main-allocator-block-size=16777216\"\n", "only the list"},
		{"something else", "hello\nworld\n", "no memory report in this file"},
	} {
		findings := Analyze(readText(t, test.log), Question{})
		texts := ""
		for i := range findings {
			if findings[i].ID == "no-report" {
				texts = findings[i].texts()
			}
		}
		if !strings.Contains(texts, test.says) {
			t.Errorf("%s: got %q, want %q", test.name, texts, test.says)
		}
	}
}

func TestProposalsNameEachSettingOnceAndOnlyForAdvice(t *testing.T) {
	findings := Analyze(readText(t, sampleText+sampleText), Question{})
	seen := map[string]bool{}
	for _, a := range Proposals(findings) {
		if seen[a.Key] {
			t.Errorf("%s is proposed twice", a.Key)
		}
		seen[a.Key] = true
	}
	if len(seen) < 5 {
		t.Errorf("only %v are proposed", seen)
	}
	if seen["memorysetup-typetree-allocator-block-size"] {
		t.Error("a finding that is only information proposes a setting")
	}
}
