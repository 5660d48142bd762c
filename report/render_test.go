package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

// render_test.go: the forms of output. What they say is tested in findings_test.go; here it is that
// it fits, can be read back, and cannot be broken by what a log says.

func viewOf(t *testing.T, name, log string) View {
	t.Helper()
	l := readText(t, log)
	return View{Name: name, Log: l, Findings: Analyze(l, Question{})}
}

func textOf(t *testing.T, v View) string {
	t.Helper()
	var b strings.Builder
	if err := WriteText(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// logs returns the logs that every form of output is tried on.
func logs(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"sample": sampleText, "empty": "", "three": sampleText + sampleText +
		sampleText}
	for name, c := range complaints {
		all[name] = c.log
	}
	files, _ := filepath.Glob(filepath.Join(casesDir, "*.txt"))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = string(raw)
	}
	return all
}

func TestTheShortTextFitsTheFirstScreen(t *testing.T) {
	for name, log := range logs(t) {
		v := viewOf(t, "Player.log", log)
		out := textOf(t, v)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(lines) > 23 { // the prompt takes the 24th
			t.Errorf("%s: %d lines:\n%s", name, len(lines), out)
		}
		for _, l := range lines {
			if text.RuneWidthWithoutEscSequences(l) > 80 {
				t.Errorf("%s: a line is wider than 80 columns: %q", name, l)
			}
		}
		for i, f := range TopChanges(v.Findings, topCount) {
			first := strings.Join(strings.Fields(f.Title), " ")
			if !strings.Contains(strings.Join(strings.Fields(out), " "), first) {
				t.Errorf("%s: change %d is not on the screen: %s", name, i+1, f.Title)
			}
			for _, a := range f.Actions[:min(1, len(f.Actions))] {
				if !strings.Contains(out, a.BootLine()) {
					t.Errorf("%s: the screen lacks %s", name, a.BootLine())
				}
			}
		}
	}
}

func TestTheFirstScreenOfTheSampleNamesThreeChanges(t *testing.T) {
	const want = `Player.log: Unity memory report, release player, 10,000 frames, lines 1-362
It is printed because the program ended: no crash, no error.

Three things are worth changing:
 1. The job memory ran out of blocks: 240,500 requests (24.1 a frame) went to
    the slow heap.
    Set:  memorysetup-job-temp-allocator-block-size=4194304
    Cost: 128 MB if as many blocks are used again, at most 128 MB (64 blocks).
 2. The pool for small objects is full: 2,179,992 requests (218 a frame) took a
    slower way.
    Set:  memorysetup-bucket-allocator-block-size=8388608
    Cost: 4 MB; run again and see whether the count falls.
 3. The scratch memory of the loading thread is too small: it ran over 41,000
    times (4.1 a frame).
    Set:  memorysetup-temp-allocator-size-preload-manager=1048576
    Cost: 768 KB (the peak is cut off at the limit of twice the block, so the
          need is higher).

Where: a line in <game>_Data/boot.config, the same with a dash in front on the
command line, or Project Settings > Memory Settings.
In full, with evidence and all figures (14 findings): granary report --all
Player.log
`
	if got := textOf(t, viewOf(t, "Player.log", sampleText)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheLongTextHasEveryFindingAndFitsTheWidth(t *testing.T) {
	for name, log := range logs(t) {
		v := viewOf(t, "Player.log", log)
		v.All = true
		out := textOf(t, v)
		words := strings.Join(strings.Fields(out), " ")
		for _, f := range v.Findings {
			if !strings.Contains(words, strings.Join(strings.Fields(f.Title), " ")) {
				t.Errorf("%s: lacks %q", name, f.Title)
			}
		}
		for _, l := range strings.Split(out, "\n") {
			if text.RuneWidthWithoutEscSequences(l) > 80 {
				t.Errorf("%s: a line is wider than 80 columns: %q", name, l)
			}
		}
	}
}

func TestColourComesOnlyWhenAskedFor(t *testing.T) {
	v := viewOf(t, "Player.log", sampleText)
	if out := textOf(t, v); strings.Contains(out, "\x1b") {
		t.Error("escape sequences without colour")
	}
	v.Color = true
	colored := textOf(t, v)
	if !strings.Contains(colored, "\x1b[") {
		t.Error("no colour although it was asked for")
	}
	v.Color = false
	if text.StripEscape(colored) != textOf(t, v) {
		t.Error("colour changes the text")
	}
}

func TestThePasteHasFiveLines(t *testing.T) {
	for name, log := range logs(t) {
		var b strings.Builder
		if err := WritePaste(&b, viewOf(t, "Player.log", log)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "\n"); got != 5 {
			t.Errorf("%s: %d lines:\n%s", name, got, b.String())
		}
	}
}

func TestJSONCanBeReadBackAndKeepsLinesAndPrecision(t *testing.T) {
	for name, log := range logs(t) {
		var b bytes.Buffer
		if err := WriteJSON(&b, []View{viewOf(t, "Player.log", log)}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var out struct {
			Schema string
			Files  []struct {
				Findings, Proposals []map[string]any
				Reports             []struct {
					Usage *struct {
						Stacks []struct {
							Name string
							Peak *struct {
								Bytes, Margin int64
								Line          int
								Text          string
							} `json:"peakAllocatedBytes"`
						}
					}
				}
			}
		}
		if err := json.Unmarshal(b.Bytes(), &out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if out.Schema != Schema || len(out.Files) != 1 || out.Files[0].Findings == nil {
			t.Errorf("%s: %+v", name, out)
		}
		if name == "sample" {
			peak := out.Files[0].Reports[0].Usage.Stacks[0].Peak
			if peak == nil || peak.Text != "5.1 MB" || peak.Margin != 52429 || peak.Line != 8 {
				t.Errorf("the main thread's peak came out as %+v", peak)
			}
		}
	}
}

// evilLog tries to break out of every form of output.
const evilLog = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> ``` | **bold** " +
	"\x1b[31m\u202e{{.}}Memory Statistics:\n[ALLOC_TEMP_TLS] TLS Allocator\n" +
	"    [ALLOC_TEMP_<b onmouseover=alert(3)>`|]\n      Initial Block Size 4.0 MB\n" +
	"      Current Block Size 4.0 MB\n      Peak Allocated Bytes 1.0 MB\n      Overflow Count 90000\n"

func TestALogCannotBreakThePage(t *testing.T) {
	v := viewOf(t, "<script>alert(4)</script>.log", evilLog)
	v.Error = "<script>alert(5)</script>"
	var b bytes.Buffer
	if err := WriteHTML(&b, []View{v}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script>alert", "<img", "<b onmouseover", "\x1b", "\u202e"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if strings.Count(page, "<script") != 3 || strings.Count(page, "</script>") != 3 {
		t.Error("the page has other scripts than its own three")
	}
}

func TestALogCannotBreakMarkdownOrTheTerminal(t *testing.T) {
	v := viewOf(t, "a|b`c.log", evilLog)
	var b bytes.Buffer
	if err := WriteMarkdown(&b, v); err != nil {
		t.Fatal(err)
	}
	outside := regexp.MustCompile("(?s)\n(```+)\n.*?\n(```+)\n").ReplaceAllString(b.String(), "\n")
	for _, bad := range []string{"<script", "<img", "**bold**"} {
		if strings.Contains(outside, bad) {
			t.Errorf("Markdown holds %q outside of code:\n%s", bad, outside)
		}
	}
	v.All = true
	if out := textOf(t, v); strings.ContainsAny(out, "\x1b\u202e\x07") {
		t.Errorf("the text holds control characters: %q", out)
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHTML(&b, []View{viewOf(t, "Player.log", sampleText)}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	outside := regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(page, "")
	refers := regexp.MustCompile(`(?i)(src|href|action)\s*=|url\(|@import`)
	if found := refers.FindString(outside); found != "" {
		t.Errorf("the page refers to something else: %q", found)
	}
	if strings.Contains(page, "sourceMappingURL") {
		t.Error("the page refers to a source map")
	}
	for _, want := range []string{"The MIT License (MIT)", "Chart.js Contributors", "Chart.js v4.6.1",
		`name="viewport"`, "prefers-color-scheme: dark", "Content-Security-Policy",
		"Highest use and memory taken, ranked", "What the advice costs", "Block use against block size",
		"Frames by the use of the main heap (main thread)"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	charts := strings.Count(outside, "data-chart=")
	if tables := strings.Count(outside, "<summary>Figures</summary>"); charts < 8 || tables != charts {
		t.Errorf("%d charts, %d tables of figures", charts, tables)
	}
}

func TestEveryLogMakesAPageAndMarkdown(t *testing.T) {
	for name, log := range logs(t) {
		v := viewOf(t, "Player.log", log)
		var page, markdown bytes.Buffer
		if err := WriteHTML(&page, []View{v, v}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := WriteMarkdown(&markdown, v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(markdown.String(), "# Memory report: Player.log") {
			t.Errorf("%s: %.60q", name, markdown.String())
		}
	}
}

func TestSettingsAreWrittenInUnitysForms(t *testing.T) {
	actions := []Action{newAction("bucket-allocator-block-size", 8<<20, 4<<20),
		newAction("temp-allocator-size-preload-manager", 1<<20, 256<<10)}
	const boot = "memorysetup-bucket-allocator-block-size=8388608\n" +
		"memorysetup-temp-allocator-size-preload-manager=1048576\n"
	if got := BootConfig(actions); got != boot {
		t.Errorf("boot.config: %q", got)
	}
	android, err := SettingsAsset(actions, "android")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(android, "\n"), "\n")
	if lines[0] != "  m_PlatformMemorySettings:" || lines[1] != "    7:" || len(lines) != 30 {
		t.Errorf("%d lines, starting with %q", len(lines), lines[:2])
	}
	for _, want := range []string{"      m_MainAllocatorBlockSize: -1",
		"      m_BucketAllocatorBlockSize: 8388608", "      m_TempAllocatorSizePreloadManager: 1048576"} {
		if !strings.Contains(android, want+"\n") {
			t.Errorf("the fragment lacks %q", want)
		}
	}
	editor, err := SettingsAsset(nil, "editor")
	if err != nil || !strings.HasPrefix(editor,
		"  m_EditorMemorySettings:\n    m_MainAllocatorBlockSize: -1\n") {
		t.Errorf("%v, %.80q", err, editor)
	}
	if _, err := SettingsAsset(nil, "toaster"); err == nil || !strings.Contains(err.Error(),
		"android") {
		t.Errorf("an unknown platform: %v", err)
	}
}

func TestSizesAndSeveritiesAreReadAsUsersTypeThem(t *testing.T) {
	for text, want := range map[string]int64{"1GB": 1 << 30, "512 MB": 512 << 20, "256k": 256 << 10,
		"1.5GB": 3 << 29, "262144": 262144, "2gb": 2 << 30, "100 B": 100} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "much", "1XB", "-5", "1 GB more", "K"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
	for i, name := range severityNames {
		if got, err := ParseSeverity(strings.ToUpper(name)); err != nil || got != Severity(i) {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	if _, err := ParseSeverity("awful"); err == nil {
		t.Error("an unknown severity was taken")
	}
}
