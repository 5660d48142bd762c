//go:build programs

// This file has headless Chromium render a local page to a PNG.

package programs

import (
	"bytes"
	"fmt"
	"image/png"
	"testing"
	"time"
)

// renderPage has Chromium write a picture of a page of the work directory.
func renderPage(s *session, chromium, page, picture string) {
	s.t.Helper()
	r := s.run(command{
		args: []string{chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
			"--no-first-run", "--disable-background-networking", "--disable-component-update",
			"--disable-sync", "--hide-scrollbars", "--force-device-scale-factor=1",
			"--user-data-dir=" + s.path("profile-"+picture), "--window-size=900,700",
			"--virtual-time-budget=10000", "--screenshot=" + s.path(picture), "file://" + s.path(page)},
		limit: 3 * time.Minute,
	})
	s.needLoaded(r.loaded, "chromium")
	image, err := png.Decode(bytes.NewReader(s.read(picture)))
	if err != nil {
		s.fatalf("Chromium wrote no picture: %v\n%s", err, tail(r.stderr))
	}
	colours := map[[4]uint32]int{}
	var pixels bytes.Buffer
	for y := image.Bounds().Min.Y; y < image.Bounds().Max.Y; y++ {
		for x := image.Bounds().Min.X; x < image.Bounds().Max.X; x++ {
			r, g, b, a := image.At(x, y).RGBA()
			colours[[4]uint32{r, g, b, a}]++
			fmt.Fprintf(&pixels, "%02x%02x%02x%02x", r>>8, g>>8, b>>8, a>>8)
		}
		pixels.WriteByte('\n')
	}
	if len(colours) < 50 {
		s.fatalf("the picture of %s has only %d colours: the page was not drawn", page, len(colours))
	}
	s.record("the size of "+picture, []byte(image.Bounds().String()))
	s.record("the pixels of "+picture, pixels.Bytes())
}

func TestChromiumRendersALocalPage(t *testing.T) {
	chromium := need(t, "chromium", "chromium")
	compare(t, func(s *session) {
		s.copyTestdata("page.html")
		renderPage(s, chromium, "page.html", "page.png")
	})
}
