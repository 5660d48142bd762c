/* measure: runs one program under an allocator and says what it cost.
 *
 *   measure PRELOAD PROGRAM [ARGUMENT...]
 *
 * PRELOAD is the library for LD_PRELOAD, or "-" for none. The figures go to file descriptor 3 as
 * one line:
 *
 *   wall=SECONDS user=SECONDS system=SECONDS rss_kib=KIB minor_faults=N exit=CODE signal=NUMBER
 *
 * Why a program of its own: Linux starts the peak of a new process at the peak of the process that
 * called exec in it. The runner is a Go program of some 20 MiB, so everything started from it
 * directly seems to need at least as much. From here the floor is this program's own 1.5 MiB. The
 * preload is set in the child only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RESULT_FD 3
#define EXIT_NOT_STARTED 126

static double clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/* A measured program that goes wild must be the one that the kernel kills when memory runs out. */
static void volunteer_for_oom(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "900", 3) != 3) perror("granary bench: oom_score_adj");
  close(file);
}

static void child(const char *preload, char **command, pid_t parent) {
  /* If the runner kills this program (time limit, interrupt), the measured one must not live on. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_NOT_STARTED);
  volunteer_for_oom();
  if (strcmp(preload, "-") != 0) setenv("LD_PRELOAD", preload, 1);
  execvp(command[0], command);
  fprintf(stderr, "granary bench: cannot start %s: %s\n", command[0], strerror(errno));
  _exit(EXIT_NOT_STARTED);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr,
            "usage: measure PRELOAD|- PROGRAM [ARGUMENT...]   (figures go to descriptor 3)\n");
    return 2;
  }
  fcntl(RESULT_FD, F_SETFD, FD_CLOEXEC);
  pid_t self = getpid();
  double started = clock_now();
  pid_t pid = fork();
  if (pid < 0) {
    perror("granary bench: fork");
    return EXIT_NOT_STARTED;
  }
  if (pid == 0) child(argv[1], argv + 2, self);
  int status;
  struct rusage usage;
  while (wait4(pid, &status, 0, &usage) < 0) {
    if (errno != EINTR) {
      perror("granary bench: wait4");
      return EXIT_NOT_STARTED;
    }
  }
  double wall = clock_now() - started;
  dprintf(RESULT_FD,
          "wall=%.6f user=%.6f system=%.6f rss_kib=%ld minor_faults=%ld exit=%d signal=%d\n", wall,
          seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss, usage.ru_minflt,
          WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return 0;
}
