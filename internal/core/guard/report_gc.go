//go:build gc

package guard

// ReportHandler, if set, is told of a misuse. The guard of a C program stops it instead.
var ReportHandler func(f *Finding)

func (g *Guard) report(f *Finding) {
	if ReportHandler != nil {
		ReportHandler(f)
	}
}
