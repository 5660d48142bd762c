package report

import (
	"fmt"
	"io"
	"strings"
)

// render_markdown.go: a page for a wiki, a pull request or an issue.

// WriteMarkdown writes the view as Markdown.
func WriteMarkdown(w io.Writer, v View) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Memory report: %s\n\n%s\n\n", markdown(v.Name), markdown(v.Headline()))
	if v.Error != "" {
		fmt.Fprintf(&b, "Read only in part: %s\n\n", markdown(v.Error))
	}
	if actions := Proposals(v.Findings); len(actions) > 0 {
		b.WriteString("## Proposed settings\n\n```\n" + BootConfig(actions) + "```\n\n" +
			markdown(where) + "\n\n")
	}
	b.WriteString("## Findings\n\n")
	if len(v.Findings) == 0 {
		b.WriteString("None.\n\n")
	}
	for i := range v.Findings {
		markdownFinding(&b, i+1, &v.Findings[i])
	}
	reports, indexes := v.Log.usages()
	for i, r := range reports {
		fmt.Fprintf(&b, "## Report %d\n\n%s\n\n%s\n\n", indexes[i],
			markdown(strings.Join(describe(r), ", ")), partsTable(r.Usage).RenderMarkdown())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownFinding(b *strings.Builder, number int, f *Finding) {
	fmt.Fprintf(b, "### %d. %s\n\n*%s* %s\n\n", number, markdown(f.Title), f.Severity,
		markdown(f.Meaning))
	for _, a := range f.Actions {
		fmt.Fprintf(b, "- Set `%s` (%s)\n", a.BootLine(), markdown(a.Where))
	}
	for _, step := range f.Steps {
		fmt.Fprintf(b, "- %s\n", markdown(step))
	}
	for _, part := range [...]struct{ label, text string }{{"Effect", f.Effect},
		{"Not if", f.SkipIf}, {"Unknown", f.Unknown}} {
		if part.text != "" {
			fmt.Fprintf(b, "- %s: %s\n", part.label, markdown(part.text))
		}
	}
	if len(f.Evidence) > 0 {
		fence := "```"
		for _, e := range f.Evidence {
			for strings.Contains(e.Text, fence) {
				fence += "`"
			}
		}
		b.WriteString("\n" + fence + "\n")
		for _, e := range f.Evidence {
			fmt.Fprintf(b, "%6d | %s\n", e.Line, e.Text)
		}
		b.WriteString(fence + "\n")
	}
	b.WriteByte('\n')
}

var markdownEscapes = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "<",
	"&lt;", ">", "&gt;", "[", "\\[", "]", "\\]", "|", "\\|", "#", "\\#", "\n", " ")

// markdown makes text stand for itself.
func markdown(text string) string { return markdownEscapes.Replace(text) }
