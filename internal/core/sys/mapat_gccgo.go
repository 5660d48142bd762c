//go:build gccgo

package sys

// Results of granary_sys_map_at.
const (
	mapAtDone  = 0
	mapAtTaken = 1
)

//extern granary_sys_map_at
func mapAt(addr, bytes uintptr) int32

// MapAt makes memory that reads as zero at these addresses. If it cannot, taken says whether that is for good because
// somebody else has some of them.
func MapAt(addr Addr, bytes uintptr) (ok, taken bool) {
	result := mapAt(uintptr(addr), bytes)
	return result == mapAtDone, result == mapAtTaken
}
