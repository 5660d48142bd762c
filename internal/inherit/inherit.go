// Package inherit gives a program that replaces this process what this process was given.
//
// exec keeps nearly everything: pid, directory, limits, signal mask. What it cannot keep is what
// the Go runtime changed before main ran:
//
//   - it catches every signal, also those the parent had set to be ignored (`trap "" TERM`,
//     Python's SIGPIPE), and a caught signal is a deadly one after exec;
//   - it opens /dev/null for each of the descriptors 0, 1 and 2 that is closed.
//
// So both are noted before the runtime starts, and Restore undoes the changes before exec. The
// limit of open files, which the runtime raises, is restored by syscall.Exec itself.
package inherit
