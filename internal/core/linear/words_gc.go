//go:build gc

package linear

// setWord, setLive and addLive write what others may read meanwhile. A word is written whole, and the memory lies where
// the race detector does not look.

func setWord(word *uintptr, value uintptr) { *word = value }

func setLive(word *int64, value int64) { *word = value }

func addLive(word *int64, more int64) { *word += more }
