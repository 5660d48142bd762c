// Package report reads the memory reports that Unity programs and Granary write to their logs, and
// says what they mean.
//
// The structures:
//
//	Log       everything that was understood of one file: its reports, and facts about the file
//	Report    one run of a program: its Usage and whatever else the log says about that run
//	Usage     the block "Memory Statistics:", allocator by allocator
//	Size      a printed amount of memory, with its precision and its line; Count likewise
//	Finding   one thing a log shows: evidence, meaning, what to do, what that costs
//	Action    a proposed setting
//	View      a Log with its findings, ready to be written as text, Markdown, JSON or HTML
//	Comparison  the counts of several runs side by side
//
// The path of a log:
//
//  1. openText unpacks and decodes it (decode.go).
//  2. lineSource moves a window over it and finds the next line that holds a word of interest
//     (lines.go, match.go, words.go).
//  3. parser.line hands the line to the part of the parser that its word names (parse.go); sections
//     of a report gather in a block (parse_block.go, block.go), messages in their run.
//  4. A finished block becomes a Usage (convert.go).
//  5. Analyze runs every family of findings over every report and ranks the results (findings.go).
//  6. WriteText, WriteMarkdown, WriteJSON, WriteHTML and WritePaste write them (render_*.go).
//
// Nothing here may import another package of Granary: a report is read where no Granary runs.
// docs/design/report.md explains the choices.
package report
