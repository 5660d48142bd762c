package guard

import "granary/internal/core/sys"

// What blocks are filled with. The canary differs from 0, which is what is most often written one
// byte too far.
const (
	patternFresh  = 0xa5
	patternFreed  = 0xdf
	patternCanary = 0xe7
)

const (
	bytesInWord = uint64(0x0101010101010101) // times a byte: eight of it
	wordBytes   = 8
	wordMask    = wordBytes - 1
)

func byteAt(addr sys.Addr) *byte { return (*byte)(addr.Pointer()) }

func wordAt(addr sys.Addr) *uint64 { return (*uint64)(addr.Pointer()) }

// fill sets bytes to a pattern.
func fill(start sys.Addr, bytes uintptr, pattern byte) {
	end := start + sys.Addr(bytes)
	for ; start < end && start&wordMask != 0; start++ {
		*byteAt(start) = pattern
	}
	word := uint64(pattern) * bytesInWord
	for ; start+wordBytes <= end; start += wordBytes {
		*wordAt(start) = word
	}
	for ; start < end; start++ {
		*byteAt(start) = pattern
	}
}

// mismatch is the offset of the first byte that is not the pattern, bytes if all are.
func mismatch(start sys.Addr, bytes uintptr, pattern byte) uintptr {
	at, end := start, start+sys.Addr(bytes)
	for at < end && at&wordMask != 0 && *byteAt(at) == pattern {
		at++
	}
	if at&wordMask == 0 {
		word := uint64(pattern) * bytesInWord
		for at+wordBytes <= end && *wordAt(at) == word {
			at += wordBytes
		}
	}
	for at < end && *byteAt(at) == pattern {
		at++
	}
	return uintptr(at - start)
}
