// Package debughttp shows the heaps of a program to its operators: the profile for `go tool pprof`, and the figures as
// an expvar. It is a package of its own because net/http is much for a program that serves nothing.
//
//	http.Handle("/debug/pprof/offheap", debughttp.ProfileHandler())
//	debughttp.Publish("offheap")
package debughttp

import (
	"expvar"
	"fmt"
	"net/http"

	"granary/heap"
)

// ProfileHandler serves heap.WriteProfile.
func ProfileHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", `attachment; filename="offheap"`)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := heap.WriteProfile(w); err != nil {
			// The client went away, or has a part already: all that is left is to break off.
			panic(http.ErrAbortHandler)
		}
	})
}

// Var is the figures of all heaps that are open, by their names; heaps without one are "heap 1" and so on.
func Var() expvar.Var {
	return expvar.Func(func() any {
		figures := map[string]heap.Stats{}
		for i, h := range heap.Heaps() {
			name := h.Name()
			if _, taken := figures[name]; taken || name == "" {
				name = fmt.Sprintf("heap %d", i+1)
			}
			figures[name] = h.Stats()
		}
		return figures
	})
}

// Publish makes Var an exported variable, which /debug/vars shows. Like expvar.Publish it may be called once for a
// name.
func Publish(name string) { expvar.Publish(name, Var()) }
