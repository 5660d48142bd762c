package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// parse_test.go: the parser against the decorations, cuts and encodings that logs come in. What a
// log says must not depend on them: most tests compare with the summary of the plain sample.

// sampleSummary is what every form of the sample must come out as, but for line numbers.
func sampleSummary(t *testing.T) string {
	t.Helper()
	log := readText(t, sampleText)
	onlyUsage(t, log)
	return withoutLines(summary(&log.Reports[0]))
}

func withoutLines(text string) string {
	_, rest, _ := strings.Cut(text, ", ")
	return rest
}

// decorate puts the same in front of and behind every line.
func decorate(text string, line func(i int, text string) string) string {
	var out []string
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, line(i, l))
	}
	return strings.Join(out, "\n") + "\n"
}

var decorations = map[string]func(i int, text string) string{
	"CRLF": func(_ int, text string) string { return text + "\r" },
	"GitHub": func(i int,
		text string) string {
		return fmt.Sprintf("2024-05-18T19:05:%02d.4%06dZ %s", i/60, i, text)
	},
	"docker compose": func(_ int, text string) string { return "rust-server-1  | " + text },
	"kubectl":        func(_ int, text string) string { return "[pod/game-7f/server] " + text },
	"journald": func(i int, text string) string {
		return fmt.Sprintf("Apr 25 23:11:%02d host game[35769]: %s", i%60, text)
	},
	"logcat threadtime": func(i int, text string) string {
		return fmt.Sprintf("07-11 11:38:24.%03d 24857 24888 D Unity   : %s", i, text)
	},
	"Android Studio": func(i int, text string) string {
		return fmt.Sprintf("2025/03/22 17:51:36.%03d 15630 15690 Debug Unity %s", i, text)
	},
	"browser console": func(_ int, text string) string {
		return "Build.framework.js.gz:2 " + text +
			"\n"
	},
	"quoted in a browser": func(i int, text string) string {
		return fmt.Sprintf("2857.%03d WebContent(11976): (js warn) \"%s\\n\"", i, text)
	},
	"JSON lines": func(_ int, text string) string { return `  "` + text + `",` },
	"docker json-file": func(_ int, text string) string {
		raw, _ := json.Marshal(map[string]string{"log": text + "\n", "stream": "stdout"})
		return string(raw)
	},
	"mail quote": func(_ int, text string) string { return "> " + text },
	"colours": func(_ int, text string) string {
		return "\x1b[36m[game]\x1b[0m " + text +
			"\x1b[0m"
	},
	"game prefix": func(i int,
		text string) string {
		return fmt.Sprintf("[08:42:%02d.573] [%d] [INFO] %s", i%60, i, text)
	},
	"no indent": func(_ int, text string) string { return strings.TrimLeft(text, " ") },
	"tabs": func(_ int, text string) string {
		return "\t" + strings.ReplaceAll(text, "  ",
			"\t")
	},
	"HTML":  func(_ int, text string) string { return text + "<br/>" },
	"comma": func(_ int, text string) string { return commaDecimals(text) },
	"foreign rows": func(i int, text string) string {
		return text +
			fmt.Sprintf("\n[Chat] player %d: hello", i)
	},
}

// commaDecimals writes sizes as a program does under a German locale.
func commaDecimals(text string) string {
	raw := []byte(text)
	for i := 1; i+1 < len(raw); i++ {
		if raw[i] == '.' && isDigit(raw[i-1]) && isDigit(raw[i+1]) {
			raw[i] = ','
		}
	}
	return string(raw)
}

func TestDecorationsDoNotChangeWhatALogSays(t *testing.T) {
	want := sampleSummary(t)
	for name, line := range decorations {
		t.Run(name, func(t *testing.T) {
			text := decorate(sampleText, line)
			log := readText(t, text)
			onlyUsage(t, log)
			got := withoutLines(summary(&log.Reports[0]))
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestEncodingsDoNotChangeWhatALogSays(t *testing.T) {
	want := sampleSummary(t)
	var zipped, zstandard bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	io.WriteString(zip, sampleText)
	zip.Close()
	z, err := zstd.NewWriter(&zstandard)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(z, sampleText)
	z.Close()
	wide, big := []byte{0xff, 0xfe}, []byte{}
	for _, unit := range utf16.Encode([]rune(sampleText)) {
		wide = append(wide, byte(unit), byte(unit>>8))
		big = append(big, byte(unit>>8), byte(unit))
	}
	for name, raw := range map[string][]byte{
		"byte order mark": append([]byte("\xef\xbb\xbf"), sampleText...), "gzip": zipped.Bytes(),
		"zstd": zstandard.Bytes(), "UTF-16 with mark": wide, "UTF-16 without": wide[2:],
		"UTF-16 of the other order": big,
		"carriage returns":          []byte(strings.ReplaceAll(sampleText, "\n", "\r")),
		"no last line end":          []byte(strings.TrimSuffix(sampleText, "\n")),
	} {
		t.Run(name, func(t *testing.T) {
			log, err := Read(bytes.NewReader(raw), Options{})
			if err != nil {
				t.Fatal(err)
			}
			onlyUsage(t, log)
			if got := withoutLines(summary(&log.Reports[0])); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAReaderThatGivesSingleBytesIsReadLikeAnyOther(t *testing.T) {
	want := sampleSummary(t)
	log, err := Read(iotest.OneByteReader(strings.NewReader(sampleText)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	onlyUsage(t, log)
	if got := withoutLines(summary(&log.Reports[0])); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEveryLineOfTheSampleComesOutAsItWas(t *testing.T) {
	printed := reprint(onlyUsage(t, readText(t, sampleText)))
	for i, text := range strings.Split(strings.TrimSuffix(sampleText, "\n"), "\n") {
		if strings.Contains(text, "StackAllocators") {
			continue
		}
		if got := printed[i+1]; strings.TrimSpace(got) != strings.TrimSpace(text) {
			t.Errorf("line %d: got %q, want %q", i+1, got, text)
		}
	}
}

func TestReportsOfTwoContainersThatInterleaveStayApart(t *testing.T) {
	other := strings.ReplaceAll(sampleText, "Overflow Count 41000", "Overflow Count 77")
	a, b := strings.Split(sampleText, "\n"), strings.Split(other, "\n")
	var mixed strings.Builder
	for i := range a {
		fmt.Fprintf(&mixed, "game-a  | %s\ngame-b  | %s\nproxy   | GET /%d\n", a[i], b[i], i)
	}
	log := readText(t, mixed.String())
	reports, _ := log.usages()
	if len(reports) != 2 {
		t.Fatalf("got %d reports, want 2", len(reports))
	}
	for i, want := range []int64{41000, 77} {
		r := reports[i]
		if r.Usage.Header != 1+i {
			t.Errorf("report %d has its heading in line %d", i+1, r.Usage.Header)
		}
		if r.Source != []string{"game-a", "game-b"}[i] {
			t.Errorf("report %d is from %q", i+1, r.Source)
		}
		if got := r.Usage.Stacks[1].Overflow.N; got != want {
			t.Errorf("report %d: overflow %d, want %d", i+1, got, want)
		}
		if frames, exact := r.Usage.Frames(); frames != 10000 || !exact {
			t.Errorf("report %d: %d frames, agreed %v", i+1, frames, exact)
		}
	}
}

func TestSeveralReportsInOneFileAreKeptApart(t *testing.T) {
	log := readText(t, sampleText+"Loading next game\n"+sampleText+sampleText)
	reports, _ := log.usages()
	if len(reports) != 3 {
		t.Fatalf("got %d reports, want 3", len(reports))
	}
	first := summary(reports[0])
	for _, r := range reports[1:] {
		if withoutLines(summary(r)) != withoutLines(first) {
			t.Errorf("a repeated report differs:\n%s", summary(r))
		}
	}
}

func TestAHeadingGluedToAnotherMessageIsSplitFromIt(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"PlayerConnection::Cleanup" + sampleText, "PlayerConnection::Cleanup"},
		{"Failed to load il2cpp" + sampleText, "Failed to load il2cpp"},
		{decorate("Failed to load il2cpp"+sampleText, decorations["GitHub"]), "Failed to load il2cpp"},
		{decorate(sampleText, decorations["GitHub"]), ""},
	} {
		if got := onlyUsage(t, readText(t, test.text)).Glued; got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestAHistogramSpreadOverRecordsIsJoined(t *testing.T) {
	const text = `D Unity: [ALLOC_DEFAULT_MAIN]
D Unity:   Peak usage frame count: 
D Unity: [32.0 MB-64.0 MB]: 310 frames, 
D Unity: [64.0 MB-128.0 MB]: 2 frames
D Unity: 
D Unity:   Requested Block Size 16.0 MB
D Unity:   Peak Block count 3
`
	heap := onlyUsage(t, readText(t, text)).Duals[0].Main
	if got := heap.Frames.Total(); got != 312 || len(heap.Frames.Bins) != 2 {
		t.Errorf("got %d frames in %d bins, want 312 in 2", got, len(heap.Frames.Bins))
	}
	if heap.Block.Line != 6 || heap.Block.String() != "16.0 MB" {
		t.Errorf("block %v in line %d", heap.Block, heap.Block.Line)
	}
}

func TestAReportWithinOneStringIsRead(t *testing.T) {
	want := sampleSummary(t)
	quoted := `{"log":"` + strings.ReplaceAll(sampleText, "\n", `\n`) + `"}` + "\n"
	log := readText(t, quoted)
	onlyUsage(t, log)
	if got := withoutLines(summary(&log.Reports[0])); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestExcerptsCutAnywhereAreReadWithoutInventingValues(t *testing.T) {
	all := strings.Split(strings.TrimSuffix(sampleText, "\n"), "\n")
	whole := reprint(onlyUsage(t, readText(t, sampleText)))
	for start := 0; start < len(all); start += 7 {
		for _, length := range []int{5, 23, 90, len(all)} {
			stop := min(len(all), start+length)
			log := readText(t, strings.Join(all[start:stop], "\n")+"\n")
			for _, r := range log.Reports {
				for number, text := range reprint(r.Usage) {
					if want := whole[number+start]; text != want {
						t.Fatalf("lines %d-%d: line %d came out as %q, want %q", start+1, stop,
							number+start, text, want)
					}
				}
			}
		}
	}
}

func TestValuesAreKnownAsExactlyAsTheyWerePrinted(t *testing.T) {
	for text, want := range map[string]Size{
		"0.5 MB":   {Bytes: 512 << 10, Margin: 52429},
		"16.0 MB":  {Bytes: 16 << 20, Margin: 52429},
		"0.50 GB":  {Bytes: 512 << 20, Margin: 5368710},
		"511.9 KB": {Bytes: 524186, Margin: 52},
		"54 B":     {Bytes: 54},
		"98,6 MB":  {Bytes: 103389594, Margin: 52429},
		"66.3 MiB": {Bytes: 69520589, Margin: 52429},
		"4 KB":     {Bytes: 4096, Margin: 512},
	} {
		got, rest, ok := parseSize([]byte(text), 9)
		if !ok || len(rest) > 0 || got.Bytes != want.Bytes || got.Margin != want.Margin || got.Line != 9 {
			t.Errorf("%q: got %+v, rest %q, %v; want %+v", text, got, rest, ok, want)
		}
	}
	for _, text := range []string{"", "MB", "1.", ".5 MB", "1.2.3 MB", "5", "5 XB", "5 MBit", "5 Mx",
		"99999999999999999999 B", "9999999999999999 GB", "-5 MB", "1e5 MB"} {
		if got, rest, ok := parseSize([]byte(text), 1); ok && len(rest) == 0 {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func TestProseThatMentionsReportWordsIsNoReport(t *testing.T) {
	for _, text := range []string{
		"see Memory Statistics: in the manual\n",
		"the Initial Block Size 4.0 MB is too large, I think\nwhat about Overflow Count 5?\n",
		"warning: [ALLOC_DEFAULT] failed\n",
		"set memorysetup-main-allocator-block-size to something\n",
		"JobTempAlloc is a nice name\nThreadsafeLinearAllocator as well\n",
		"Allocation of 5 bytes at 0x1\n",
		"[ ALLOC_DEFAULT ] is the name\n",
	} {
		if log := readText(t, text); len(log.Reports) != 0 {
			t.Errorf("%q was taken for a report: %+v", text, log.Reports)
		}
	}
}

func TestLinesLongerThanAnyMemoryAreSteppedOver(t *testing.T) {
	want := sampleSummary(t)
	long := strings.Repeat("x", 3*windowBytes+17)
	log := readText(t, long+"\n"+sampleText+long+sampleText+long)
	reports, _ := log.usages()
	if len(reports) != 2 {
		t.Fatalf("got %d reports, want 2", len(reports))
	}
	for _, r := range reports {
		if got := withoutLines(summary(r)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if reports[0].Usage.First != 2 {
		t.Errorf("the first report starts in line %d, want 2", reports[0].Usage.First)
	}
	lines := strings.Count(sampleText, "\n")
	if want := 2*lines + 2; log.Facts.Lines != want {
		t.Errorf("%d lines, want %d", log.Facts.Lines, want)
	}
	if log.Facts.LongLines != 3 {
		t.Errorf("%d long lines, want 3", log.Facts.LongLines)
	}
}

func TestLineNumbersAreRightBehindMuchText(t *testing.T) {
	var text bytes.Buffer
	chatter(&text, 200000)
	before := bytes.Count(text.Bytes(), []byte("\n"))
	text.WriteString(sampleText)
	log, err := Read(&text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := onlyUsage(t, log)
	if u.First != before+1 || u.Header != before+1 {
		t.Errorf("the report starts in line %d, want %d", u.First, before+1)
	}
	if len(u.Before) != beforeMax || u.Before[beforeMax-1].Line != before {
		t.Errorf("the lines in front of it: %+v", u.Before)
	}
}

func TestOfVeryManyReportsTheFirstAndTheLastAreKept(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "Memory Statistics:\n[ALLOC_TEMP_TLS] TLS Allocator\n    [ALLOC_TEMP_MAIN]\n"+
			"      Initial Block Size 4.0 MB\n      Overflow Count %d\n", i)
	}
	log := readText(t, text.String())
	if len(log.Reports) != reportsMax || log.Facts.Dropped != 200-reportsMax {
		t.Fatalf("%d reports, %d dropped", len(log.Reports), log.Facts.Dropped)
	}
	last := len(log.Reports) - 1
	if first, final := log.Reports[0].Usage,
		log.Reports[last].Usage; first.Stacks[0].Overflow.N != 0 ||
		final.Stacks[0].Overflow.N != 199 {
		t.Errorf("kept %d to %d, want 0 to 199", first.Stacks[0].Overflow.N, final.Stacks[0].Overflow.N)
	}
}

func TestAReadErrorKeepsWhatWasReadAndNamesTheLine(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(sampleText), iotest.ErrReader(io.ErrUnexpectedEOF))
	log, err := Read(broken, Options{})
	if err == nil || !strings.Contains(err.Error(), "line") {
		t.Errorf("error %v", err)
	}
	if reports, _ := log.usages(); len(reports) != 1 {
		t.Errorf("%d reports, want the one that was read", len(reports))
	}
	reports, err := Parse(iotest.ErrReader(io.ErrClosedPipe))
	if err == nil || len(reports) != 0 {
		t.Errorf("got %d reports, error %v", len(reports), err)
	}
}

func TestATruncatedArchiveGivesWhatItHoldsAndAnError(t *testing.T) {
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	for range 50 {
		io.WriteString(zip, sampleText)
	}
	zip.Close()
	log, err := Read(bytes.NewReader(zipped.Bytes()[:zipped.Len()/2]), Options{})
	if err == nil {
		t.Error("no error for a truncated archive")
	}
	if len(log.Reports) == 0 {
		t.Error("nothing was kept of a truncated archive")
	}
	if _, err := Read(strings.NewReader("\x1f\x8bno archive at all"), Options{}); err == nil {
		t.Error("no error for a file that only starts like an archive")
	}
}

func TestTheStartUpListIsReadBehindAnyDecoration(t *testing.T) {
	list := "[UnityMemory] Configuration Parameters - Can be set up in boot.config\n" +
		"    \"memorysetup-bucket-allocator-granularity=16\"\n" +
		"    \"memorysetup-main-allocator-block-size=33554432\"\n" +
		"    \"memorysetup-temp-allocator-size-main=4194304\"\n"
	for name, line := range decorations {
		if name == "comma" || name == "JSON lines" {
			continue
		}
		log := readText(t, decorate(list, line))
		if len(log.Reports) != 1 || log.Reports[0].Start == nil || len(log.Reports[0].Start.Values) != 3 {
			t.Errorf("%s: %+v", name, log.Reports)
			continue
		}
		if v, ok := log.Reports[0].Start.Get("main-allocator-block-size"); !ok || v.Value != 33554432 {
			t.Errorf("%s: %+v, %v", name, v, ok)
		}
	}
}

func TestAReportBelongsToTheRunThatPrintedIt(t *testing.T) {
	list := "[UnityMemory] Configuration Parameters - Can be set up in boot.config\n" +
		"    \"memorysetup-main-allocator-block-size=%d\"\nInitialize engine version: 2022.3.%df1 (a)\n"
	text := fmt.Sprintf(list, 1, 1) + sampleText + fmt.Sprintf(list, 2, 2) + "Crash!!!\n" +
		fmt.Sprintf(list, 3, 3) + sampleText
	log := readText(t, text)
	if len(log.Reports) != 3 {
		t.Fatalf("got %d runs, want 3", len(log.Reports))
	}
	for i, wantUsage := range []bool{true, false, true} {
		r := log.Reports[i]
		if (r.Usage != nil) != wantUsage || r.Start.Values[0].Value != int64(i+1) ||
			r.Engine == nil || r.Engine.Text != fmt.Sprintf("2022.3.%df1", i+1) {
			t.Errorf("run %d: usage %v, start %+v, engine %+v", i+1, r.Usage != nil, r.Start, r.Engine)
		}
	}
}
