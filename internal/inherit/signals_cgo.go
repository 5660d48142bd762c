//go:build cgo && linux

package inherit

/*
#include <signal.h>

static unsigned char granary_ignored[65];

// Runs before main, and so before the Go runtime installs its handlers.
__attribute__((constructor)) static void granary_note_ignored(void) {
	for (int number = 1; number <= 64; number++) {
		struct sigaction action;
		if (sigaction(number, 0, &action) == 0 && action.sa_handler == SIG_IGN) {
			granary_ignored[number] = 1;
		}
	}
}

static int granary_was_ignored(int number) {
	return granary_ignored[number];
}
*/
import "C"

import (
	"os/signal"
	"syscall"
)

// IgnoreSignalsAgain ignores the signals that this process was started with as ignored.
func IgnoreSignalsAgain() {
	for number := 1; number <= 64; number++ {
		if C.granary_was_ignored(C.int(number)) != 0 {
			signal.Ignore(syscall.Signal(number))
		}
	}
}
