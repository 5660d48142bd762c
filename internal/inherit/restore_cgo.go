//go:build cgo && linux

package inherit

/*
#include <fcntl.h>
#include <signal.h>

static unsigned char granary_ignored[65];
static unsigned char granary_closed[3];

// Runs before main, and so before the Go runtime.
__attribute__((constructor)) static void granary_note(void) {
	for (int number = 1; number <= 64; number++) {
		struct sigaction action;
		if (sigaction(number, 0, &action) == 0 && action.sa_handler == SIG_IGN) {
			granary_ignored[number] = 1;
		}
	}
	for (int fd = 0; fd < 3; fd++) {
		granary_closed[fd] = fcntl(fd, F_GETFD) < 0;
	}
}

static int granary_was_ignored(int number) {
	return granary_ignored[number];
}

static int granary_was_closed(int fd) {
	return granary_closed[fd];
}
*/
import "C"

import (
	"os/signal"
	"syscall"
)

// Restore ignores the signals and closes the standard descriptors that were ignored and closed when
// this process started. The descriptors stay open until the exec succeeds.
func Restore() {
	for number := 1; number <= 64; number++ {
		if C.granary_was_ignored(C.int(number)) != 0 {
			signal.Ignore(syscall.Signal(number))
		}
	}
	for fd := 0; fd < 3; fd++ {
		if C.granary_was_closed(C.int(fd)) != 0 {
			syscall.CloseOnExec(fd)
		}
	}
}
