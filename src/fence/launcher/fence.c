/*
 * Builds the namespaces that commands of the host run in, and starts commands in them.
 *
 *   fence hold OPTIONS              makes the user, mount and network namespace of a server, once
 *   fence enter OPTIONS -- PROGRAM  runs a command in copies of them, with a process namespace of its own
 *   fence view OPTIONS              mounts the layer of a change in a mount namespace of its own
 *   fence refresh OPTIONS           makes that layer show changes of the workspace below it
 *
 * Linked statically: a variable such as LD_PRELOAD has no effect on it. docs/design/fence.md has the purpose of each step.
 */
#define _GNU_SOURCE
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void stop(const char *what, ...) {
  int error = errno;
  va_list details;
  va_start(details, what);
  dprintf(2, "fence: ");
  vdprintf(2, what, details);
  dprintf(2, ": %s\n", strerror(error));
  va_end(details);
  _exit(126);
}

void attach(const char *source, const char *target, const char *type, unsigned long flags, const char *options) {
  if (mount(source, target, type, flags, options)) stop("cannot mount %s", target);
}

void make_directory(const char *path, mode_t mode) {
  if ((mkdir(path, mode) && errno != EEXIST) || chmod(path, mode)) stop("cannot make %s", path);
}

/*
 * Opens without following symlinks: a directory that another command replaces by one must not move the mask elsewhere.
 */
void mask(const char *path) {
  struct {
    uint64_t flags, mode, resolve;
  } how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = 0x04 /* no symlinks */ | 0x02 /* no magic links */};
  struct stat st;
  char target[64];
  int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  if (fd < 0 || fstat(fd, &st)) stop("cannot hide %s, which was moved or removed at this moment; try again", path);
  snprintf(target, sizeof target, "/proc/self/fd/%d", fd);
  attach(S_ISDIR(st.st_mode) ? MASK_DIRECTORY : MASK_FILE, target, NULL, MS_BIND, NULL);
  close(fd);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "hold")) hold(argc - 2, argv + 2);
  if (argc > 1 && !strcmp(argv[1], "enter")) enter(argc - 2, argv + 2);
  if (argc > 1 && !strcmp(argv[1], "view")) view(argc - 2, argv + 2);
  if (argc > 1 && !strcmp(argv[1], "refresh")) refresh(argc - 2, argv + 2);
  errno = EINVAL;
  stop("expected hold, enter, view or refresh");
}
