//go:build gccgo

package linear

import "unsafe"

// setWord, setLive and addLive write what others may read meanwhile: plain moves to the processor, which the tests with
// the thread sanitizer replace by what that knows for atomic. sync/atomic has only stores that cost as much as an
// exchange.

//extern granary_linear_set_word
func setWordAt(word unsafe.Pointer, value uintptr)

//extern granary_linear_set_live
func setLiveAt(word unsafe.Pointer, value int64)

//extern granary_linear_add_live
func addLiveAt(word unsafe.Pointer, more int64)

func setWord(word *uintptr, value uintptr) { setWordAt(unsafe.Pointer(word), value) }

func setLive(word *int64, value int64) { setLiveAt(unsafe.Pointer(word), value) }

func addLive(word *int64, more int64) { addLiveAt(unsafe.Pointer(word), more) }
