package report

import (
	"strings"
	"testing"
)

// native_test.go: Granary's own report, in both of its forms.

const nativeSample = `warming up
granary: usage report of my, server, pid 4711, version 0.1.0
command   my, server --port 8080
process   peak RSS 212.3 MiB, ran 61.123 s, user 0.500 s, system 0.250 s
spans     held 83.0 MiB, reserved at most 90.0 MiB of a range of 16.0 GiB
memory    resident 80.0 MiB (peak 85.0 MiB), own tables 160.0 KiB
released  spans 17 (1.1 MiB), sweeps 4
threads   caches 2 (peak 9), batches given 120, taken 100
system    normal frees 1,100, overflow mallocs 3, limit 512.0 MiB, refused 5
tier    class      blocks        peak       mallocs      asked   waste     cached       held   spans
tiny       16     123,456     617,283     1,234,567   16.5 MiB   12.5%    1.0 KiB   77.2 MiB   1,235
tiny     1024      30,000      60,000        18.4 E  263.4 KiB   12.5%   64.0 KiB   64.0 KiB       1
tiny      all     153,456           -     1,626,771   28.9 MiB   12.5%  216.0 KiB  101.9 MiB   1,631
small    2560          90         450           900    1.9 MiB   12.5%  160.0 KiB  256.0 KiB       1
normal      -         100           -         1,200  300.0 MiB       -          -   25.0 MiB       -
sum               162,932           -     1,629,546  338.5 MiB    1.5%    2.6 MiB  127.7 MiB   1,634
done
`

func onlyNative(t *testing.T, text string) *Native {
	t.Helper()
	log := readText(t, text)
	if len(log.Reports) != 1 || log.Reports[0].Native == nil {
		t.Fatalf("reports: %+v", log.Reports)
	}
	return log.Reports[0].Native
}

func TestTheTextOfGranarysReportIsReadBehindAnyDecoration(t *testing.T) {
	for name, line := range map[string]func(int, string) string{
		"plain": func(_ int, text string) string { return text }, "CRLF": decorations["CRLF"],
		"GitHub": decorations["GitHub"], "docker": decorations["docker compose"]} {
		n := onlyNative(t, decorate(nativeSample, line))
		if n.Name != "my, server" || n.PID != 4711 || n.Version != "0.1.0" || n.Line != 2 ||
			n.Last != 16 {
			t.Errorf("%s: %+v", name, n)
		}
		for what, got := range map[string]string{
			"peak RSS 212.3 MB": "peak RSS " + n.PeakRSS.String(), "spans 83.0 MB": "spans " +
				n.Spans.String(),
			"used 90.0 MB": "used " + n.UsedPeak.String(), "range 16.0 GB": "range " + n.Range.String(),
			"resident 80.0 MB": "resident " + n.Resident.String(),
			"highest 85.0 MB":  "highest " + n.ResidentPeak.String(), "tables 160.0 KB": "tables " +
				n.Tables.String(),
			"limit 512.0 MB": "limit " + n.Limit.String(), "released 1.1 MB": "released " +
				n.Released.String(),
		} {
			if got != what {
				t.Errorf("%s: got %s, want %s", name, got, what)
			}
		}
		counts := []int64{n.ReleasedSpans.N, n.Sweeps.N, n.Caches.N, n.CachesPeak.N, n.BatchesGiven.N,
			n.BatchesTaken.N, n.NormalFrees.N, n.Overflow.N, n.Refused.N}
		for i, want := range []int64{17, 4, 2, 9, 120, 100, 1100, 3, 5} {
			if counts[i] != want {
				t.Errorf("%s: count %d is %d, want %d", name, i, counts[i], want)
			}
		}
		if n.ElapsedSeconds != 61.123 || n.UserSeconds != 0.5 || n.SystemSeconds != 0.25 {
			t.Errorf("%s: times %v, %v, %v", name, n.ElapsedSeconds, n.UserSeconds, n.SystemSeconds)
		}
		if len(n.Classes) != 3 || n.Classes[0].Bytes != 16 || n.Classes[0].Blocks.N != 123456 ||
			n.Classes[0].Held.String() != "77.2 MB" || n.Classes[0].Count.N != 1235 ||
			n.Classes[2].Tier != "small" {
			t.Errorf("%s: classes %+v", name, n.Classes)
		}
		if n.Normal == nil || n.Normal.Mallocs.N != 1200 || n.Normal.Held.String() != "25.0 MB" ||
			n.Sum == nil || n.Sum.Blocks.N != 162932 || n.Sum.Held.String() != "127.7 MB" {
			t.Errorf("%s: normal %+v, sum %+v", name, n.Normal, n.Sum)
		}
	}
}

const nativeObject = `{"granary_report":1,"version":"0.1.0","name":"server","pid":12,` +
	`"parent_pid":1,"command":["server","--x"],"elapsed_seconds":1.5,"user_seconds":1,"system_seconds":0.5,` +
	`"peak_rss_bytes":222629888,"classes":[{"tier":"tiny","block_bytes":64,"mallocs":1000000,` +
	`"asked_bytes":34000000,"blocks":500000,"blocks_peak":600000,"blocks_cached":100,"batches_in":1,` +
	`"batches_out":2,"spans":600,"spans_peak":700,"spans_taken":800,"held_bytes":39321600}],` +
	`"sum":{"blocks":500000,"mallocs":1000000,"asked_bytes":34000000,"held_bytes":39321600,` +
	`"batches_in":1,"batches_out":2,"spans":600,"blocks_bytes":32000000,"rounded_bytes":64000000,` +
	`"cached_bytes":6400},"range_bytes":17179869184,"used_peak_bytes":39321600,` +
	`"span_bytes":139321600,"resident_bytes":39000000,"resident_peak_bytes":39321600,"metadata_bytes":70000,` +
	`"spans_released":100,"released_bytes":6553600,"sweeps":0,"thread_caches":1,` +
	`"thread_caches_peak":3,"normal_mallocs":9,"normal_frees":8,"normal_bytes":900000,` +
	`"normal_live_bytes":100000,"overflow_mallocs":0,"limit_bytes":0,` +
	`"limit_failures":18446744073709551615}`

func TestTheJSONOfGranarysReportIsReadAndEveryProcessIsOne(t *testing.T) {
	log := readText(t, nativeObject+"\nhello\n"+nativeObject+"\n")
	if len(log.Reports) != 2 {
		t.Fatalf("%d reports, want 2", len(log.Reports))
	}
	n := log.Reports[1].Native
	if n.Name != "server" || n.PID != 12 || n.Line != 3 || n.Command != "server --x" ||
		n.PeakRSS.Bytes != 222629888 || n.PeakRSS.Margin != 0 || n.Sum.Cached.Bytes != 6400 ||
		len(n.Classes) != 1 || n.Classes[0].Cached.Bytes != 6400 || n.Normal.Blocks.N != 1 ||
		n.BatchesGiven.N != 1 || n.BatchesTaken.N != 2 || n.Limit.Known() {
		t.Errorf("%+v", n)
	}
	if n.Refused.N != cappedMax {
		t.Errorf("a count beyond all reason came out as %d", n.Refused.N)
	}
}

func TestGranarysReportIsJudged(t *testing.T) {
	for _, test := range []struct{ log, id, says string }{
		{nativeSample, "granary-limit", "refused memory 5 times: the limit of 512.0 MB"},
		{nativeSample, "granary-range-full", "3 small blocks"},
		{nativeSample, "granary-process", "at most 212.3 MB"},
		{nativeObject, "granary-idle", "No sweep ran"},
		{nativeObject, "granary-waste", "blocks of 64 bytes hold 34 on average"},
	} {
		found := false
		for _, f := range Analyze(readText(t, test.log), Question{}) {
			found = found || f.ID == test.id && strings.Contains(f.texts(), test.says)
			if f.ID == "no-report" {
				t.Errorf("%s: %s", test.id, f.Title)
			}
		}
		if !found {
			t.Errorf("no %s that says %q", test.id, test.says)
		}
	}
	for _, f := range Analyze(readText(t, nativeSample), Question{Budget: 100 << 20}) {
		if f.ID == "budget" && f.Severity == Critical {
			return
		}
	}
	t.Error("the budget was not judged")
}
