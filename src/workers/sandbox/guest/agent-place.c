/*
 * The place in a virtual machine that commands run in. It is the one that namespaces give (docs/design/namespaces.md): the
 * same devices, the same read-only parts of proc, the same few capabilities, the same number of processes.
 *
 * A machine is its own wall. This keeps commands from the kernel of the machine, which stands between them and QEMU.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent-boot.h"

enum { MAX_PROCESSES = 1024, LAST_CAPABILITY = 63, LOCK_ON_FAULT = 4 };

/* chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service: what installing packages takes. */
static const int KEPT_CAPABILITIES[] = {0, 1, 3, 4, 5, 6, 7, 10};

/* ---- what is in it ---- */

static void make_devices(void) {
  static const struct {
    const char *path;
    int major, minor;
  } NODES[] = {{"/place/null", 1, 3}, {"/place/zero", 1, 5}, {"/place/full", 1, 7}, {"/place/random", 1, 8}, {"/place/urandom", 1, 9}, {"/place/tty", 5, 0}};
  static const char *const LINKS[][2] = {{"/proc/self/fd", "/place/fd"},
                                         {"/proc/self/fd/0", "/place/stdin"},
                                         {"/proc/self/fd/1", "/place/stdout"},
                                         {"/proc/self/fd/2", "/place/stderr"},
                                         {"pts/ptmx", "/place/ptmx"}};
  make_directory("/place", 0755);
  attach("tmpfs", "/place", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k,nr_inodes=64");
  for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++)
    if (mknod(NODES[i].path, S_IFCHR | 0666, makedev(NODES[i].major, NODES[i].minor)) || chmod(NODES[i].path, 0666)) stop_boot("cannot make %s", NODES[i].path);
  for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++)
    if (symlink(LINKS[i][0], LINKS[i][1])) stop_boot("cannot make %s", LINKS[i][1]);
  make_directory("/place/pts", 0755);
  make_directory("/place/shm", 01777);
  attach("devpts", "/place/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,max=64");
  attach("tmpfs", "/place/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m");
  attach("tmpfs", "/place", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL);
}

static void close_proc(void) {
  static const char *const READ_ONLY[] = {"/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sysrq-trigger"};
  static const char *const HIDDEN[] = {"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/kallsyms", "/proc/kmsg", "/proc/modules"};
  for (size_t i = 0; i < sizeof READ_ONLY / sizeof *READ_ONLY; i++) {
    if (access(READ_ONLY[i], F_OK)) continue;
    attach(READ_ONLY[i], READ_ONLY[i], NULL, MS_BIND | MS_REC, NULL);
    attach(READ_ONLY[i], READ_ONLY[i], NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  }
  for (size_t i = 0; i < sizeof HIDDEN / sizeof *HIDDEN; i++)
    if (!access(HIDDEN[i], F_OK)) attach("/place/null", HIDDEN[i], NULL, MS_BIND, NULL);
}

/* Onto a directory of the new root. What else an image has by that name gives way, and is never followed. */
static void move_into(const char *name, const char *from) {
  char target[64];
  int fd, root = open("/new", O_PATH | O_DIRECTORY | O_CLOEXEC);
  mkdirat(root, name, 0755);
  while ((fd = openat(root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
    if (unlinkat(root, name, 0) || mkdirat(root, name, 0755)) stop_boot("cannot make /%s", name);
  snprintf(target, sizeof target, "/proc/self/fd/%d", fd);
  attach(from, target, NULL, MS_MOVE, NULL);
  close(fd);
  close(root);
}

static void enter_root(void) {
  unlink("/init");
  if (chdir("/new")) stop_boot("cannot enter the root");
  attach("/new", "/", NULL, MS_MOVE, NULL);
  if (chroot(".") || chdir("/")) stop_boot("cannot enter the root");
  /* From here on every path is one of the image. */
  if (chmod("/tmp", 01777)) {
    unlink("/tmp");
    make_directory("/tmp", 01777);
  }
  int hosts = open("/etc/hosts", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  static const char LOCAL[] = "127.0.0.1 localhost\n::1 localhost\n";
  if (hosts >= 0 && write(hosts, LOCAL, sizeof LOCAL - 1) < 0) stop_boot("cannot write /etc/hosts");
  if (hosts >= 0) close(hosts);
}

/* ---- limits and rights ---- */

/* The mount is needed for this moment only; without it nobody changes the group again. */
static void limit_processes(void) {
  char most[16];
  snprintf(most, sizeof most, "%d", MAX_PROCESSES);
  make_directory("/groups", 0755);
  attach("cgroup2", "/groups", "cgroup2", 0, NULL);
  write_file("/groups/cgroup.subtree_control", "+pids");
  make_directory("/groups/all", 0755);
  write_file("/groups/all/pids.max", most);
  write_file("/groups/all/cgroup.procs", "0");
  if (umount2("/groups", MNT_DETACH)) stop_boot("cannot leave the groups");
}

static void limit(int resource, rlim_t value) {
  if (setrlimit(resource, &(struct rlimit){value, value})) stop_boot("cannot set a limit");
}

/* The kernel would start these programs of the image with all its rights. */
static void close_kernel(void) {
  write_file("/proc/sys/kernel/modprobe", "\n");
  write_file("/proc/sys/kernel/modules_disabled", "1");
}

/* Of what this process starts; it needs its own to set the clock. */
static void bound_rights(void) {
  uint64_t kept = 0;
  for (size_t i = 0; i < sizeof KEPT_CAPABILITIES / sizeof *KEPT_CAPABILITIES; i++) kept |= 1ull << KEPT_CAPABILITIES[i];
  for (int i = 0; i <= LAST_CAPABILITY; i++)
    if (!(kept >> i & 1) && prctl(PR_CAPBSET_DROP, i) && errno != EINVAL) stop_boot("cannot drop a capability");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) stop_boot("cannot forbid new privileges");
}

static void raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo"};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request)) stop_boot("cannot raise the loopback interface");
  close(fd);
}

/* When memory runs out, the agent stays: it is not ended, and not moved to the disk. */
static void stay(void) {
  write_file("/proc/self/oom_score_adj", "-1000");
  if (mlockall(MCL_CURRENT | MCL_FUTURE | LOCK_ON_FAULT)) stop_boot("cannot stay in memory");
}

void enter_place(void) {
  make_directory("/proc", 0555);
  attach("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  limit_processes();
  make_devices();
  close_kernel();
  close_proc();
  move_into("dev", "/place");
  move_into("proc", "/proc");
  raise_loopback();
  if (sethostname("sandbox", 7)) stop_boot("cannot set the host name");
  enter_root();
  stay();
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 65536);
  bound_rights();
}
