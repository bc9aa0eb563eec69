/*
 * The layer of a change, mounted over the workspace in a mount namespace of its own.
 *
 * The server opens the namespaces of this process, which keep the mount, and then ends it. When the server ends, its
 * descriptors close, and the kernel removes the mount: nothing is left to clean up.
 */
#define _GNU_SOURCE
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The lock of the change: an open file of the server, so that the lock stays when this process ends. */
enum { LOCK = 3 };
/* Descriptors for refresh; root has only the second. */
enum { USER_SPACE = 3, MOUNTS = 4 };

/* Exit code for "another server has this change". */
enum { LOCKED = 75 };

static const char *workspace, *upper, *work, *pins, *whiteout;
static bool has_user_space;

static void read_arguments(int argc, char **argv) {
  for (int i = 0; i + 1 < argc; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    if (!strcmp(name, "--workspace")) workspace = value;
    else if (!strcmp(name, "--upper")) upper = value;
    else if (!strcmp(name, "--work")) work = value;
    else if (!strcmp(name, "--pins")) pins = value;
    else if (!strcmp(name, "--whiteout")) whiteout = value;
    else if (!strcmp(name, "--user")) has_user_space = !strcmp(value, "yes");
    else errno = EINVAL, stop("unknown option %s", name);
  }
}

/* Mounts by descriptor: the kernel would split a path at a comma or a colon. */
static int hold_directory(const char *path) {
  int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) stop("cannot open %s", path);
  return fd;
}

/* Root keeps the ids of the host, and with them attributes that remember renamed directories. */
static bool make_mount_namespace(void) {
  if (geteuid() == 0 && !unshare(CLONE_NEWNS)) return false;
  make_user_namespace();
  if (unshare(CLONE_NEWNS)) stop("cannot make a mount namespace");
  return true;
}

void view(int argc, char **argv) {
  char options[256], byte;
  read_arguments(argc, argv);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (flock(LOCK, LOCK_EX | LOCK_NB)) {
    if (errno == EWOULDBLOCK) _exit(LOCKED);
    stop("cannot lock the change");
  }
  /* From here on only the server holds the lock, and can release it while this process ends. */
  close(LOCK);
  if (mknod(whiteout, S_IFCHR, 0) && errno != EEXIST) stop("cannot make %s", whiteout);
  bool is_user = make_mount_namespace();
  attach(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  int lower = hold_directory(workspace), pinned = hold_directory(pins), over = hold_directory(upper), in = hold_directory(work);
  snprintf(options, sizeof options, "lowerdir=/proc/self/fd/%d:/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,%s", pinned, lower, over,
           in, is_user ? "userxattr,index=off" : "redirect_dir=on,index=off,metacopy=off");
  attach("workcell", workspace, "overlay", MS_NOSUID | MS_NODEV, options);
  prctl(PR_SET_DUMPABLE, 1);
  dprintf(1, "ok %s\n", is_user ? "user" : "root");
  while (read(0, &byte, 1) > 0) {}
  _exit(0);
}

void refresh(int argc, char **argv) {
  read_arguments(argc, argv);
  if (has_user_space && setns(USER_SPACE, CLONE_NEWUSER)) stop("cannot enter the user namespace of the change");
  if (setns(MOUNTS, CLONE_NEWNS)) stop("cannot enter the mounts of the change");
  attach(NULL, workspace, NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, NULL);
  _exit(0);
}
