/* report.h: the usage report that the library writes about its own process.
 *
 * Nothing here allocates, uses stdio or takes a lock, so that all of it may run while the process
 * is being torn down. The formats are described in docs/usage-report.md.
 */
#ifndef GRANARY_REPORT_H
#define GRANARY_REPORT_H

#include "granary.h"

/* Called once when the library starts, with the values of GRANARY_REPORT and GRANARY_REPORT_FILE
 * or NULL. Remembers what the report will need and the program may have changed by the end: the
 * clock, the name, the command, the directory, and a duplicate of stderr if the report goes
 * there. */
void granary_report_setup(const char *mode, const char *file);

/* 1 if a report will be written at the end of the process, else 0. */
int granary_report_wanted(void);

/* Writes the report that was asked for, to where it was asked for; once a process. */
void granary_report_at_exit(const granary_stats *stats);

/* Writes a report to fd, as JSON or as text. Returns 0, or -1 with the errno of write. */
int granary_report_write(int fd, int json, const granary_stats *stats);

/* Called in the child after fork: the child writes a report of its own, with its own clock. */
void granary_report_after_fork_child(void);

#endif
