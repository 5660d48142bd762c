/* files.h: the calls of files that the libraries make, without being cancellation points: malloc and free are none, so
 * a thread that is to be cancelled (pthread_cancel) must not end in them, where it may hold a lock or have the world
 * stopped. Each is as the one of its name, errno included. */
#ifndef GRANARY_GLUE_FILES_H
#define GRANARY_GLUE_FILES_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int file_open(const char *path, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0666);
}

static inline ssize_t file_read(int fd, void *bytes, size_t count) { return syscall(SYS_read, fd, bytes, count); }

static inline ssize_t file_pread(int fd, void *bytes, size_t count, off_t from)
{
    return syscall(SYS_pread64, fd, bytes, count, from);
}

static inline ssize_t file_write(int fd, const void *bytes, size_t count)
{
    return syscall(SYS_write, fd, bytes, count);
}

static inline void file_close(int fd) { syscall(SYS_close, fd); }

/* The same file under a number that is out of the way of programs that expect low ones, or close them: what a library
 * keeps open. fd itself if there is none, or if fd is -1. */
static inline int file_out_of_the_way(int fd)
{
    enum { HIGH = 500 };
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    if (high < 0)
        return fd;
    file_close(fd);
    return high;
}

#endif
