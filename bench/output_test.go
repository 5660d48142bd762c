package bench

import (
	"reflect"
	"strings"
	"testing"
)

func TestTheOutputOfAWorkloadIsRead(t *testing.T) {
	printed, err := ParseOutput("seconds=0.250000\nchecksum=00ff\nthreads=2\n" +
		"rss_before_kib=100\nrss_idle_kib=90\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Printed{
		Seconds: 0.25, Checksum: "00ff", Threads: 2,
		Moments: []Moment{{"before", 100}, {"idle", 90}},
	}
	if !reflect.DeepEqual(printed, want) {
		t.Errorf("read %+v, want %+v", printed, want)
	}
}

func TestOutputThatIsNotAWorkloadsIsRefusedWithTheReason(t *testing.T) {
	good := "seconds=1\nchecksum=1\nthreads=1\n"
	for _, test := range []struct{ name, text, reason string }{
		{"nothing", "", "no line seconds="},
		{"no checksum", "seconds=1\nthreads=1\n", "no line checksum="},
		{"no threads", "seconds=1\nchecksum=1\n", "no line threads="},
		{"words", good + "hello\n", "is not NAME=VALUE"},
		{"twice", good + "seconds=2\n", "twice"},
		{"unknown name", good + "colour=3\n", "not known"},
		{"negative time", "seconds=-1\nchecksum=1\nthreads=1\n", "not negative"},
		{"no number", "seconds=nan\nchecksum=1\nthreads=1\n", "must be a number"},
		{"no hexadecimal", "seconds=1\nchecksum=xyz\nthreads=1\n", "checksum=xyz"},
		{"no thread", "seconds=1\nchecksum=1\nthreads=0\n", "at least one thread"},
		{"memory in words", good + "rss_idle_kib=much\n", "rss_idle_kib=much"},
	} {
		_, err := ParseOutput(test.text)
		if err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: got %v, want an error with %q", test.name, err, test.reason)
		}
	}
}
