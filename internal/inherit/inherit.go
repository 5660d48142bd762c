// Package inherit gives a program that replaces this process what this process was given.
//
// exec keeps nearly everything: pid, directory, descriptors, limits, signal mask. What it cannot
// keep is what the Go runtime changed before main ran: it catches every signal, also those the
// parent had set to be ignored (`trap "" TERM`, `nohup`, Python's SIGPIPE), and a caught signal is
// a deadly one after exec. So the ignored ones are noted before the runtime starts, and ignored
// again before exec.
package inherit
