/*
 * Makes the environment of one sandbox out of namespaces and starts the agent in it, as process 1 and with few rights.
 *
 * launcher/launching.c has the part that all launchers share, and guest/agent/mounts-and-rights.c the contents of the
 * environment. The order and purpose of the steps is in docs/design/namespaces.md.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../launcher/launching.h"

/*
 * Descriptors of each process, if nothing else limits the kernel's memory for them: few enough to be counted in time.
 */
enum { COUNTED_FILES = 4096 };

/*
 * Limits that the kernel counts for each user: pending signals, including timers that could send one; queues; locked
 * memory.
 */
enum { SHARES = 64, MAX_SIGNALS = 4096, MAX_QUEUE_BYTES = 262144, MAX_LOCKED_BYTES = 8 << 20 };

static const char *seccomp;
static unsigned long max_processes, memory_mb;
static int agent, filter;

static void read_arguments(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    if (take_argument(name, value)) continue;
    if (!strcmp(name, "--seccomp")) seccomp = value;
    else if (!strcmp(name, "--max-processes")) max_processes = strtoul(value, NULL, 10);
    else if (!strcmp(name, "--max-data-mb")) memory_mb = strtoul(value, NULL, 10);
  }
  errno = EINVAL;
  if (!given.root || !given.agent || !seccomp || !given.disk_mb) stop("root, agent, seccomp and disk are needed");
}

static void drop_privileges(void) {
  struct {
    uint32_t version, pid;
  } header = {0x20080522, 0};
  uint32_t low = (uint32_t)bound_rights(), sets[6] = {low, low, 0, 0, 0, 0};
  if (syscall(SYS_capset, &header, sets)) stop("cannot drop capabilities");
}

static void filter_calls(void) {
  static uint64_t program[4096 / 8];
  ssize_t length = read(filter, program, sizeof program);
  struct {
    uint16_t count;
    void *at;
  } description = {(uint16_t)(length / 8), program};
  if (length <= 0 || length % 8 || prctl(PR_SET_SECCOMP, 2 /* filter */, &description)) stop("cannot filter system calls");
}

/*
 * Watches of files are counted for the whole user, with 128 instances on most systems. A sandbox with ids of its own
 * gets all of them for itself; a sandbox of an ordinary user gets so few that 32 sandboxes leave half to the server.
 */
static void limit_watches(const char *host, const char *own) {
  char text[32] = {0};
  int from = open(host, O_RDONLY | O_CLOEXEC), to = open(own, O_WRONLY | O_CLOEXEC);
  if (from < 0 || to < 0 || read(from, text, sizeof text - 1) <= 0) stop("cannot read %s", host);
  unsigned long most = strtoul(text, NULL, 10) / SHARES;
  int length = snprintf(text, sizeof text, "%lu", most > 2 ? most : 2);
  if (write(to, text, (size_t)length) != length) stop("cannot write %s", own);
  close(from);
  close(to);
}

static void be_inside(int image) {
  char *argv[] = {"agent", "--fd", "3", NULL}, *env[] = {NULL};
  int root = make_root(image);
  make_devices("/tmp/dev", make_node);
  make_directory("/tmp/proc", 0555);
  attach("proc", "/tmp/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  if (!given.first_id) {
    limit_watches("/proc/sys/fs/inotify/max_user_instances", "/tmp/proc/sys/user/max_inotify_instances");
    limit_watches("/proc/sys/fs/inotify/max_user_watches", "/tmp/proc/sys/user/max_inotify_watches");
  }
  close_proc("/tmp/proc", "/dev/null");
  move_into(root, "dev", "/tmp/dev");
  move_into(root, "proc", "/tmp/proc");
  raise_loopback();
  if (sethostname(given.hostname, strlen(given.hostname))) stop("cannot set the host name");
  pivot_into(root);
  /* From here on every path is resolved in the guest. */
  furnish_root();

  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_SIGPENDING, MAX_SIGNALS);
  limit(RLIMIT_MSGQUEUE, MAX_QUEUE_BYTES);
  limit(RLIMIT_MEMLOCK, MAX_LOCKED_BYTES);
  limit(RLIMIT_NOFILE, given.watch_mb ? COUNTED_FILES : 65536);
  if (max_processes) limit(RLIMIT_NPROC, max_processes);
  if (memory_mb) limit(RLIMIT_DATA, (rlim_t)memory_mb << 20);
  syscall(SYS_close_range, CHANNEL + 1, ~0U, 4 /* on exec */);
  drop_privileges();
  /* Set after the last change of credentials, which clears it. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  filter_calls();
  syscall(SYS_execveat, agent, "", argv, env, AT_EMPTY_PATH);
  stop("cannot start the agent");
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  agent = copy_agent();
  filter = open(seccomp, O_RDONLY | O_CLOEXEC);
  if (filter < 0) stop("cannot read %s", seccomp);
  launch(be_inside);
}
