/*
 * Lets QEMU map the memory of a template that it may not write.
 *
 * A clone maps it privately, which needs only read access, but QEMU before 8.2 opens it for writing. If the system
 * refuses that, this opens it for reading. Loaded into QEMU by LD_PRELOAD; it needs no library, so any C compiler makes
 * it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_file(const char *path, int flags, mode_t mode) {
  long fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  int only_reading = (flags & ~O_ACCMODE) | O_RDONLY;
  int may_not_write = fd < 0 && (errno == EROFS || errno == EACCES);
  if (may_not_write && (flags & O_ACCMODE) == O_RDWR && !(flags & (O_CREAT | O_TRUNC)))
    fd = syscall(SYS_openat, AT_FDCWD, path, only_reading, 0);
  return (int)fd;
}

#define OPEN(name)                                      \
  int name(const char *path, int flags, ...) {          \
    mode_t mode = 0;                                    \
    va_list more;                                       \
    va_start(more, flags);                              \
    if (flags & O_CREAT) mode = va_arg(more, mode_t);   \
    va_end(more);                                       \
    return open_file(path, flags, mode);                \
  }

/* A macro in some C libraries. */
#undef open64

/* All names of the function in C libraries; the last two are those with checked arguments. */
OPEN(open)
OPEN(open64)
OPEN(__open_2)
OPEN(__open64_2)
