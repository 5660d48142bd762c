package debughttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/pprof/profile"

	"granary/heap"
)

func TestTheHandlerServesAProfileThatPprofReads(t *testing.T) {
	h, err := heap.New(heap.WithProfileRate(1), heap.WithName("served"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := h.Alloc(50_000); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(ProfileHandler())
	defer server.Close()
	response, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	p, err := profile.Parse(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range p.Sample {
		found = found || s.Label["heap"] != nil && s.Label["heap"][0] == "served" && s.Value[3] == 50_000
	}
	if !found {
		t.Errorf("the block is not in the profile:\n%v", p)
	}
}

var published int

func TestTheVariableHasAnEntryAHeap(t *testing.T) {
	for _, name := range []string{"a", "", "a"} {
		h, err := heap.New(heap.WithName(name))
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if _, err := h.Alloc(100); err != nil {
			t.Fatal(err)
		}
	}
	published++ // a name can be used once in a process, and tests can run more than once
	Publish(fmt.Sprint("offheap", published))
	var figures map[string]heap.Stats
	if err := json.Unmarshal([]byte(Var().String()), &figures); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "heap 2", "heap 3"} {
		if figures[name].LiveBlocks != 1 {
			t.Errorf("%q: %+v", name, figures[name])
		}
	}
}
