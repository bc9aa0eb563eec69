/*
 * A library for programs of a guest whose kernel refuses a flag of statx: gVisor of Debian 12, and GNU's ls and stat.
 *
 * The flag says that nothing is to be mounted by looking at it, which in a sandbox nothing ever is. It is loaded by the
 * guest's C library and brings none of its own, so it fits every one that knows /etc/ld.so.preload.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_AUTOMOUNT = 0x800 };

int statx(int directory, const char *path, int flags, unsigned mask, void *found) {
  return (int)syscall(SYS_statx, directory, path, flags & ~NO_AUTOMOUNT, mask, found);
}
