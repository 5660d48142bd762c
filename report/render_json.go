package report

import (
	"encoding/json"
	"io"
)

// render_json.go: the machine-readable form. Sizes are objects with bytes, margin, text and line;
// what the log does not hold is null or left out. docs/report.md describes the fields.

// Schema names the form of the JSON output; it changes when fields change their meaning.
const Schema = "granary.report/1"

type jsonFile struct {
	Name      string    `json:"name"`
	Error     string    `json:"error,omitempty"`
	Facts     Facts     `json:"facts"`
	Findings  []Finding `json:"findings"`
	Proposals []Action  `json:"proposals"`
	Reports   []Report  `json:"reports"`
}

// WriteJSON writes all views as one object.
func WriteJSON(w io.Writer, views []View) error {
	var out struct {
		Schema string     `json:"schema"`
		Files  []jsonFile `json:"files"`
	}
	out.Schema = Schema
	for i := range views {
		v := &views[i]
		out.Files = append(out.Files, jsonFile{Name: v.Name, Error: v.Error, Facts: v.Log.Facts,
			Findings: notNil(v.Findings), Proposals: notNil(Proposals(v.Findings)),
			Reports: notNil(v.Log.Reports)})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

// notNil makes an empty list of a missing one, which readers of JSON expect.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
