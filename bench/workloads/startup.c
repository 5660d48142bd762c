/* startup: /bin/true is started 200 times, one after the other.
 *
 * Models shell scripts and builds, which start thousands of small programs: what an allocator costs
 * before a program's first useful allocation. After the start-up row that allocator authors seldom
 * publish. Peak memory is that of the largest process.
 */
#include <spawn.h>
#include <sys/wait.h>

#include "bench.h"

extern char **environ;

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  long starts = bench_scaled(&bench, 200, 2);
  uint64_t checksum = 0;
  for (long i = 0; i < starts; i++) {
    char *command[] = {"true", NULL};
    pid_t pid;
    int status = 0;
    int failed = posix_spawn(&pid, "/bin/true", NULL, NULL, command, environ);
    if (failed != 0) {
      errno = failed;
      bench_fail("/bin/true");
    }
    if (waitpid(pid, &status, 0) != pid) bench_fail("waitpid");
    checksum += status == 0 ? 1 : 0xbad;
  }
  bench_finish(&bench, checksum);
  return 0;
}
