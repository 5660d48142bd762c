package gc

// marking is the state of the collection that is going on.
type marking struct {
	active uint32 // 1 between BeginCycle and the end of FinishMarking; atomic
	epoch  uint32 // of the last collection that began
}
