//go:build programs

package report

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// browser_programs_test.go: the page in a real browser. The screenshots are kept where
// GRANARY_SCREENSHOTS says, to be looked at.

// browse runs Chromium without a window and returns what it wrote to standard output.
func browse(t *testing.T, page string, arguments ...string) string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is not installed: make setup-long")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	arguments = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--hide-scrollbars", "--virtual-time-budget=5000",
		"--user-data-dir=" + t.TempDir()}, arguments...)
	command := exec.CommandContext(ctx, chromium, append(arguments, "file://"+page)...)
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, complaints.String())
	}
	return out.String()
}

// writePage writes the page of the sample to a file and returns its path and its text.
func writePage(t *testing.T) (path, page string) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, []View{viewOf(t, "Player.log", sampleText)}); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, b.String()
}

func TestEveryChartIsDrawnInABrowser(t *testing.T) {
	path, page := writePage(t)
	want := strings.Count(page, `<div class="canvas"`)
	dom := browse(t, path, "--window-size=1100,900", "--dump-dom")
	found := regexp.MustCompile(`<html[^>]*data-charts="(\d+)"`).FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("the script did not run: %.300s", dom)
	}
	if got, _ := strconv.Atoi(found[1]); got != want || want < 8 {
		t.Errorf("%s charts are drawn, want %d", found[1], want)
	}
}

func TestThePageLooksRightLightDarkAndOnAPhone(t *testing.T) {
	path, page := writePage(t)
	// The browser makes no window as narrow as a phone: the page is put into a frame of that width.
	phone := filepath.Join(filepath.Dir(path), "phone.html")
	frame := fmt.Sprintf(`<body style="margin:0"><iframe width="390" height="9000" style="border:0" `+
		`srcdoc="%s"></iframe>`, html.EscapeString(page))
	if err := os.WriteFile(phone, []byte(frame), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		name, page, size string
		dark             bool
		bar              color.RGBA // the first colour of the charts
	}{
		{"light", path, "1100,5200", false, color.RGBA{0x2f, 0x6f, 0xb3, 255}},
		{"dark", path, "1100,5200", true, color.RGBA{0x6f, 0xa8, 0xe6, 255}},
		{"phone", phone, "500,9000", false, color.RGBA{0x2f, 0x6f, 0xb3, 255}},
	} {
		t.Run(look.name, func(t *testing.T) {
			dir := os.Getenv("GRANARY_SCREENSHOTS")
			if dir == "" {
				dir = t.TempDir()
			} else if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			shot := filepath.Join(dir, "report-"+look.name+".png")
			scheme := "1"
			if look.dark {
				scheme = "0"
			}
			browse(t, look.page, "--window-size="+look.size, "--screenshot="+shot,
				"--blink-settings=preferredColorScheme="+scheme)
			checkShot(t, shot, look.dark, look.bar)
		})
	}
}

// checkShot looks for the background and the bars of the charts.
func checkShot(t *testing.T, path string, dark bool, bar color.RGBA) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	bars, dim, all := 0, 0, 0
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y += 2 {
		for x := bounds.Min.X; x < bounds.Max.X; x += 2 {
			c := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)
			all++
			if int(c.R)+int(c.G)+int(c.B) < 200 {
				dim++
			}
			if near(c, bar) {
				bars++
			}
		}
	}
	if share := dim * 100 / all; dark != (share > 50) {
		t.Errorf("%d %% of the picture is dark, in dark mode: %v", share, dark)
	}
	if bars < 2000 {
		t.Errorf("only %d points have the colour of the bars: the charts are empty", bars)
	}
	if width := contentWidth(picture); width < bounds.Dx()/2 {
		t.Errorf("the page uses only %d of %d columns", width, bounds.Dx())
	}
}

func near(a, b color.RGBA) bool {
	difference := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return difference(a.R, b.R)+difference(a.G, b.G)+difference(a.B, b.B) < 12
}

// contentWidth is the last column in which a point differs from the top left one.
func contentWidth(picture image.Image) int {
	bounds := picture.Bounds()
	back := picture.At(bounds.Min.X, bounds.Min.Y)
	for x := bounds.Max.X - 1; x > bounds.Min.X; x-- {
		for y := bounds.Min.Y; y < bounds.Max.Y; y += 8 {
			if picture.At(x, y) != back {
				return x
			}
		}
	}
	return 0
}

func TestNothingIsWiderThanAPhone(t *testing.T) {
	path, page := writePage(t)
	// Opened at once, so that the tables are measured as well.
	page = strings.ReplaceAll(page, "<details>", "<details open>")
	wrapper := filepath.Join(filepath.Dir(path), "wrapper.html")
	text := fmt.Sprintf(`<iframe id="f" width="390" height="900" srcdoc="%s"></iframe><script>
document.getElementById("f").onload = function () {
  var root = this.contentDocument.documentElement;
  document.documentElement.dataset.width = root.scrollWidth;
};</script>`, html.EscapeString(page))
	if err := os.WriteFile(wrapper, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dom := browse(t, wrapper, "--window-size=800,1000", "--dump-dom")
	found := regexp.MustCompile(`<html[^>]*data-width="(\d+)"`).FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("no width was measured: %.300s", dom)
	}
	if width, _ := strconv.Atoi(found[1]); width > 390 {
		t.Errorf("the page is %d wide in a window of 390", width)
	}
}
