/*
 * Makes the place of one sandbox out of namespaces and starts the agent in it, as process 1 and with few rights.
 *
 * What this has in common with other launchers is in launcher/launching.c. The order of the steps and what each keeps out
 * is in docs/design/namespaces.md.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../launcher/launching.h"

/* As in the kernel's headers, which not every C library has. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { LAST_CAPABILITY = 63 };

/* What root in a sandbox keeps: enough to install packages and to become another user, and only towards its own files. */
static const int KEPT_CAPABILITIES[] = {0 /* chown */,  1 /* dac_override */, 3 /* fowner */,  4 /* fsetid */,
                                        5 /* kill */,   6 /* setgid */,       7 /* setuid */, 10 /* net_bind_service */};

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

static void make_devices(void) {
  static const char *const NODES[] = {"null", "zero", "full", "random", "urandom", "tty"};
  static const char *const LINKS[][2] = {{"/proc/self/fd", "/tmp/dev/fd"},
                                         {"/proc/self/fd/0", "/tmp/dev/stdin"},
                                         {"/proc/self/fd/1", "/tmp/dev/stdout"},
                                         {"/proc/self/fd/2", "/tmp/dev/stderr"},
                                         {"pts/ptmx", "/tmp/dev/ptmx"}};
  make_directory("/tmp/dev", 0755);
  attach("tmpfs", "/tmp/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k,nr_inodes=64");
  for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++) make_node("/tmp/dev", NODES[i]);
  for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++)
    if (symlink(LINKS[i][0], LINKS[i][1])) stop("cannot make %s", LINKS[i][1]);
  make_directory("/tmp/dev/pts", 0755);
  make_directory("/tmp/dev/shm", 01777);
  attach("devpts", "/tmp/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,max=64");
  attach("tmpfs", "/tmp/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m");
  attach(NULL, "/tmp/dev", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL);
}

static void close_off(const char *path) {
  unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (access(path, F_OK)) return;
  attach(path, path, NULL, MS_BIND | MS_REC, NULL);
  attach(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL);
}

static void make_proc(void) {
  static const char *const READ_ONLY[] = {"sys", "bus", "fs", "irq", "sysrq-trigger"};
  static const char *const HIDDEN[] = {"cmdline", "kcore", "keys", "key-users", "timer_list", "sched_debug", "kallsyms", "kmsg", "modules"};
  char path[64];
  make_directory("/tmp/proc", 0555);
  attach("proc", "/tmp/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  for (size_t i = 0; i < sizeof READ_ONLY / sizeof *READ_ONLY; i++) {
    snprintf(path, sizeof path, "/tmp/proc/%s", READ_ONLY[i]);
    close_off(path);
  }
  for (size_t i = 0; i < sizeof HIDDEN / sizeof *HIDDEN; i++) {
    snprintf(path, sizeof path, "/tmp/proc/%s", HIDDEN[i]);
    if (!access(path, F_OK)) attach("/dev/null", path, NULL, MS_BIND, NULL);
  }
}

/* A directory of the new root to mount on. What else an image has by that name gives way, and is never followed. */
static void move_into(int root, const char *name, const char *from) {
  char target[64];
  int fd;
  mkdirat(root, name, 0755);
  while ((fd = openat(root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
    if (unlinkat(root, name, 0) || mkdirat(root, name, 0755)) stop("cannot make /%s", name);
  snprintf(target, sizeof target, "/proc/self/fd/%d", fd);
  attach(from, target, NULL, MS_MOVE, NULL);
  close(fd);
}

static void raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo"};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request)) stop("cannot raise the loopback interface");
  close(fd);
}

static void drop_privileges(void) {
  uint64_t kept = 0;
  for (size_t i = 0; i < sizeof KEPT_CAPABILITIES / sizeof *KEPT_CAPABILITIES; i++) kept |= 1ull << KEPT_CAPABILITIES[i];
  for (int i = 0; i <= LAST_CAPABILITY; i++)
    if (!(kept >> i & 1) && prctl(PR_CAPBSET_DROP, i) && errno != EINVAL) stop("cannot drop a capability");

  struct {
    uint32_t version, pid;
  } header = {0x20080522, 0};
  uint32_t low = (uint32_t)kept, sets[6] = {low, low, 0, 0, 0, 0};
  if (syscall(SYS_capset, &header, sets)) stop("cannot drop capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) stop("cannot forbid new privileges");
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

static void be_inside(int image) {
  char *argv[] = {"agent", "--fd", "3", NULL}, *env[] = {NULL};
  int root = make_root(image);
  make_devices();
  make_proc();
  move_into(root, "dev", "/tmp/dev");
  move_into(root, "proc", "/tmp/proc");
  raise_loopback();
  if (sethostname(given.hostname, strlen(given.hostname))) stop("cannot set the host name");
  pivot_into(root);
  /* From here on every path is one of the guest. */
  furnish_root();

  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 65536);
  if (max_processes) limit(RLIMIT_NPROC, max_processes);
  if (memory_mb) limit(RLIMIT_DATA, (rlim_t)memory_mb << 20);
  syscall(SYS_close_range, CHANNEL + 1, ~0U, 4 /* on exec */);
  drop_privileges();
  /* After the last change of credentials, which would take it away. */
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
