//go:build gccgo

package linear

import "unsafe"

// setWord and setLive write what others may read meanwhile: plain moves to the processor, which the thread sanitizer
// knows for atomic ones. sync/atomic has only stores that cost as much as an exchange.

//extern granary_linear_set_word
func setWordAt(word unsafe.Pointer, value uintptr)

//extern granary_linear_set_live
func setLiveAt(word unsafe.Pointer, value int64)

func setWord(word *uintptr, value uintptr) { setWordAt(unsafe.Pointer(word), value) }

func setLive(word *int64, value int64) { setLiveAt(unsafe.Pointer(word), value) }
