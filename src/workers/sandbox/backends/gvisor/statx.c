/*
 * A library for programs of a guest whose kernel refuses a flag of statx: gVisor of Debian 12, and GNU's ls and stat.
 *
 * The flag forbids automounts, which a sandbox does not have anyway. The library is loaded by the guest's C library and
 * contains none itself, so it works with every C library that reads /etc/ld.so.preload.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_AUTOMOUNT = 0x800 };

int statx(int directory, const char *path, int flags, unsigned mask, void *found) {
  return (int)syscall(SYS_statx, directory, path, flags & ~NO_AUTOMOUNT, mask, found);
}
