package report

// words.go: every word that makes a line interesting. Lines without any of them are never looked
// at twice, unless they stand inside a block.

// lineKind says which part of the parser understands a line.
type lineKind int

const (
	kindHeader lineKind = iota
	kindSection
	kindField
	kindRow
	kindStackList
	kindOverview
	kindOutOfMemory
	kindAsk
	kindWhere
	kindOverviewHead
	kindHeapProbe
	kindStartHead
	kindSetting
	kindProtocol
	kindMimalloc
	kindEngine
	kindCrash
	kindSwitch
	kindWarning
	kindWarningHint
	kindWarningStack
	kindNative
)

// field names one field of a section.
type field = int

// The fields that hold a count.
const (
	fieldOverflow field = iota
	fieldTooLarge
	fieldFull
	fieldUsed
	fieldDeferred
	fieldPeakBlocks
	countFields
)

// The fields that hold a size.
const (
	fieldInitial field = countFields + iota
	fieldCurrent
	fieldPeakBytes
	fieldLarge
	fieldRequested
	fieldPeakMemory
	fieldPeakLarge
	valueFields
)

// The other parts of a section.
const (
	fieldHistogram field = valueFields + iota
	fieldLayout
	fieldRows
)

// The families of life-time messages, as ids of kindWarning.
const (
	warnJobTemp = iota
	warnLifetime
	warnLinear
	warnUnfreed
)

// The forms of Granary's own report, as ids of kindNative.
const (
	nativeText = iota
	nativeJSON
)

var logWords = newMatcher([]word{
	{"Memory Statistics:", kindHeader, 0},
	{"[ALLOC_TEMP", kindSection, 0},
	{"[ALLOC_DEFAULT", kindSection, 0},
	{"[ALLOC_GFX", kindSection, 0},
	{"[ALLOC_CACHE", kindSection, 0},
	{"[ALLOC_TYPETREE", kindSection, 0},
	{"[ALLOC_BUCKET", kindSection, 0},
	{"[ALLOC_PROFILER", kindSection, 0},
	{"[ALLOC_MEMORY", kindSection, 0},
	{"StackAllocators", kindStackList, 0},
	{"Peak usage frame count", kindField, fieldHistogram},
	{"Initial Block Size", kindField, fieldInitial},
	{"Current Block Size", kindField, fieldCurrent},
	{"Peak Allocated Bytes", kindField, fieldPeakBytes},
	{"Peak Allocated bytes", kindField, fieldPeakBytes},
	{"Peak Allocated memory", kindField, fieldPeakMemory},
	{"Overflow Count (too large)", kindField, fieldTooLarge},
	{"Overflow Count (full)", kindField, fieldFull},
	{"Overflow Count", kindField, fieldOverflow},
	{"Used Block Count", kindField, fieldUsed},
	{"Used Block count", kindField, fieldUsed},
	{"Large Block size", kindField, fieldLarge},
	{"Requested Block Size", kindField, fieldRequested},
	{"Peak Block count", kindField, fieldPeakBlocks},
	{"Peak Large allocation bytes", kindField, fieldPeakLarge},
	{"Peak main deferred allocation count", kindField, fieldDeferred},
	{"Failed Allocations. Bucket layout:", kindField, fieldLayout},
	{" Subsections = ", kindRow, 0},

	{"[ ALLOC_TEMP", kindOverview, 0},
	{"[ ALLOC_DEFAULT", kindOverview, 0},
	{"[ ALLOC_GFX", kindOverview, 0},
	{"[ ALLOC_CACHE", kindOverview, 0},
	{"[ ALLOC_TYPETREE", kindOverview, 0},
	{"[ ALLOC_PROFILER", kindOverview, 0},
	{"[ ALLOC_MEMORY", kindOverview, 0},
	{"[ ALLOC_BUCKET", kindOverview, 0},
	{"System out of memory", kindOutOfMemory, 0},
	{"Trying to allocate: ", kindAsk, 0},
	{"Allocation happen", kindWhere, 0},
	{"Memory overview", kindOverviewHead, 0},
	{"DynamicHeapAllocator ", kindHeapProbe, 0},

	{"[UnityMemory]", kindStartHead, 0},
	{"memorysetup-", kindSetting, 0},
	{"##utp:{\"type\"", kindProtocol, 0},
	{"##utp:{\\\"type", kindProtocol, 0}, // within a JSON string: found, then unwrapped
	{"heap stats:", kindMimalloc, 0},
	{"block      total#", kindMimalloc, 0},

	{"Initialize engine version", kindEngine, 0},
	{"Unity Editor version:", kindEngine, 0},
	{"; Version is '", kindEngine, 0},
	{"log-memory-performance-stats", kindSwitch, 0},

	{"OUTPUTTING STACK TRACE", kindCrash, 0},
	{"Native Crash Reporting", kindCrash, 0},
	{"Caught fatal signal", kindCrash, 0},
	{"Fatal signal ", kindCrash, 0},
	{"Got a SIGSEGV", kindCrash, 0},
	{"intercepted by the crash handler", kindCrash, 0},
	{"exited with code 137", kindCrash, 0},
	{"Segmentation fault", kindCrash, 0},
	{"Out of memory: Kill", kindCrash, 0},
	{"Failed to load il2cpp", kindCrash, 0},

	{"JobTempAlloc", kindWarning, warnJobTemp},
	{"permitted lifetime of", kindWarning, warnLifetime},
	{"ThreadsafeLinearAllocator", kindWarning, warnLinear},
	{"unfreed allocations", kindWarning, warnUnfreed},
	{"diag-job-temp-memory-leak-validation", kindWarningHint, 0},
	{"diag-temp-memory-leak-validation", kindWarningHint, 0},
	{"TLA_DEBUG_STACK_LEAK", kindWarningHint, 0},
	{"enable the define: DEBUG_STACK_LEAK", kindWarningHint, 0},
	{"Allocation of ", kindWarningStack, 0},

	{"granary: usage report of ", kindNative, nativeText},
	{"{\"granary_report\":", kindNative, nativeJSON},
})
