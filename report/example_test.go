package report_test

import (
	"fmt"
	"strings"

	"granary/report"
)

func Example() {
	log, err := report.Read(strings.NewReader(`Shutting down
Memory Statistics:
[ALLOC_TEMP_JOB_4_FRAMES (JobTemp)]
  Initial Block Size 0.5 MB
  Used Block Count 64
  Overflow Count (too large) 0
  Overflow Count (full) 50408
`), report.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	block := log.Reports[0].Usage.Linears[0].Block
	fmt.Printf("%v in line %d lies between %d and %d bytes\n", block, block.Line, block.Min(),
		block.Max())
	for _, finding := range report.TopChanges(report.Analyze(log, report.Question{}), 3) {
		fmt.Println(finding.Title)
		for _, action := range finding.Actions {
			fmt.Println(action.BootLine())
		}
	}
	// Output:
	// 0.5 MB in line 4 lies between 471859 and 576717 bytes
	// The job memory ran out of blocks: 50,408 requests (number of frames unknown) went to the slow heap.
	// memorysetup-job-temp-allocator-block-size=1048576
}
