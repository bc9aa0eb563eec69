/*
 * The environment of commands in a virtual machine. It equals the one of the namespaces backend, and
 * mounts-and-rights.c makes most of it.
 *
 * The machine itself is the boundary. This keeps commands away from the machine's kernel, which separates them from
 * QEMU.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent-boot.h"

enum { MAX_PROCESSES = 1024, LOCK_ON_FAULT = 4 };

static void make_node(const char *dev, const char *name) {
  static const struct {
    const char *name;
    unsigned major, minor;
  } NUMBERS[] = {{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};
  char path[64];
  snprintf(path, sizeof path, "%s/%s", dev, name);
  size_t i = 0;
  while (strcmp(NUMBERS[i].name, name)) i++;
  if (mknod(path, S_IFCHR | 0666, makedev(NUMBERS[i].major, NUMBERS[i].minor)) || chmod(path, 0666)) stop("cannot make %s", path);
}

static void enter_root(void) {
  unlink("/init");
  if (chdir("/new")) stop("cannot enter the root");
  attach("/new", "/", NULL, MS_MOVE, NULL);
  if (chroot(".") || chdir("/")) stop("cannot enter the root");
  /* From here on every path is resolved in the image. */
  furnish_root();
}

/* Mounted only for the limit, then detached, so that no guest process can change the group. */
static void limit_processes(void) {
  char most[16];
  snprintf(most, sizeof most, "%d", MAX_PROCESSES);
  make_directory("/groups", 0755);
  attach("cgroup2", "/groups", "cgroup2", 0, NULL);
  write_file("/groups/cgroup.subtree_control", "+pids");
  make_directory("/groups/all", 0755);
  write_file("/groups/all/pids.max", most);
  write_file("/groups/all/cgroup.procs", "0");
  if (umount2("/groups", MNT_DETACH)) stop("cannot leave the groups");
}

static void limit(int resource, rlim_t value) {
  if (setrlimit(resource, &(struct rlimit){value, value})) stop("cannot set a limit");
}

/* Disables programs of the image that the kernel would start with all its rights. */
static void close_kernel(void) {
  write_file("/proc/sys/kernel/modprobe", "\n");
  write_file("/proc/sys/kernel/modules_disabled", "1");
}

/* When memory runs out, the agent stays: it is neither killed nor swapped out. */
static void stay(void) {
  write_file("/proc/self/oom_score_adj", "-1000");
  if (mlockall(MCL_CURRENT | MCL_FUTURE | LOCK_ON_FAULT)) stop("cannot stay in memory");
}

void enter_place(void) {
  make_directory("/proc", 0555);
  attach("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  limit_processes();
  make_devices("/place", make_node);
  close_kernel();
  close_proc("/proc", "/place/null");
  int root = open("/new", O_PATH | O_DIRECTORY | O_CLOEXEC);
  move_into(root, "dev", "/place");
  move_into(root, "proc", "/proc");
  close(root);
  raise_loopback();
  if (sethostname("sandbox", 7)) stop("cannot set the host name");
  enter_root();
  stay();
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 65536);
  /* Limits the rights of child processes; the agent needs its own to set the clock. */
  bound_rights();
}
