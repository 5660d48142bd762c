//go:build programs

// This file has ffmpeg transcode a clip that it generated.

package programs

import (
	"bytes"
	"testing"
	"time"
)

func TestFfmpegTranscodesAGeneratedClip(t *testing.T) {
	ffmpeg := need(t, "ffmpeg", "ffmpeg")
	// bitexact keeps versions and dates out of the files.
	exact := []string{"-flags", "+bitexact", "-fflags", "+bitexact", "-map_metadata", "-1"}
	outputs := []struct {
		file string
		args []string
	}{
		{"x264.mkv", []string{"-c:v", "libx264", "-preset", "medium", "-threads", "2", "-c:a", "aac"}},
		{"vp9.webm", []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "5", "-threads",
			"2", "-c:a", "libvorbis"}},
		{"mpeg4.avi", []string{"-c:v", "mpeg4", "-q:v", "4", "-c:a", "libmp3lame"}},
		{"scaled.mp4", []string{"-vf", "scale=214:120,hue=s=0,unsharp,transpose=1", "-c:v", "mpeg4",
			"-af", "aecho=0.8:0.9:200:0.3,aresample=22050", "-c:a", "flac", "-strict", "-2"}},
		{"frames.md5", []string{"-f", "framemd5"}},
	}
	compare(t, func(s *session) {
		convert := func(file string, input []string, args ...string) {
			t.Helper()
			all := append([]string{ffmpeg, "-nostdin", "-v", "error", "-y"}, input...)
			all = append(append(all, exact...), args...)
			r := s.run(command{args: append(all, file), limit: 4 * time.Minute})
			if len(bytes.TrimSpace(r.stderr)) > 0 {
				s.fatalf("ffmpeg on %s: %s", file, tail(r.stderr))
			}
			s.recordFile(file)
		}
		convert("clip.mkv", []string{
			"-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=12",
			"-f", "lavfi", "-i", "sine=frequency=440:beep_factor=4:duration=12:sample_rate=44100",
		}, "-c:v", "ffv1", "-c:a", "pcm_s16le")
		for _, output := range outputs {
			convert(output.file, []string{"-i", "clip.mkv"}, output.args...)
		}
		convert("again.md5", []string{"-i", "x264.mkv"}, "-f", "framemd5")
	})
}
