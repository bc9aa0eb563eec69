/*
 * The contents of a sandbox's environment, and the rights of its processes: the same in a virtual machine, where the
 * agent makes it, as with namespaces, where a launcher does. docs/design/namespaces.md has the purpose of each part.
 */
#define _GNU_SOURCE
#include "mounts-and-rights.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_CAPABILITY = 63 };

/*
 * Capabilities of root in a sandbox: enough to install packages and to become another user, and only for its own files.
 */
static const int KEPT_CAPABILITIES[] = {0 /* chown */,  1 /* dac_override */, 3 /* fowner */,  4 /* fsetid */,
                                        5 /* kill */,   6 /* setgid */,       7 /* setuid */, 10 /* net_bind_service */};

static const char *below(const char *directory, const char *name) {
  static char path[64];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

void make_devices(const char *dev, void (*make_node)(const char *dev, const char *name)) {
  static const char *const NODES[] = {"null", "zero", "full", "random", "urandom", "tty"};
  static const char *const LINKS[][2] = {{"/proc/self/fd", "fd"},
                                         {"/proc/self/fd/0", "stdin"},
                                         {"/proc/self/fd/1", "stdout"},
                                         {"/proc/self/fd/2", "stderr"},
                                         {"pts/ptmx", "ptmx"}};
  make_directory(dev, 0755);
  attach("tmpfs", dev, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k,nr_inodes=64");
  for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++) make_node(dev, NODES[i]);
  for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++)
    if (symlink(LINKS[i][0], below(dev, LINKS[i][1]))) stop("cannot make %s", below(dev, LINKS[i][1]));
  make_directory(below(dev, "pts"), 0755);
  make_directory(below(dev, "shm"), 01777);
  attach("devpts", below(dev, "pts"), "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,max=64");
  attach("tmpfs", below(dev, "shm"), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m,nr_inodes=16384");
  attach("tmpfs", dev, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL);
}

void close_proc(const char *proc, const char *null) {
  static const char *const READ_ONLY[] = {"sys", "bus", "fs", "irq", "sysrq-trigger"};
  static const char *const HIDDEN[] = {"cmdline", "kcore", "keys", "key-users", "timer_list", "sched_debug", "kallsyms", "kmsg", "modules"};
  for (size_t i = 0; i < sizeof READ_ONLY / sizeof *READ_ONLY; i++) {
    const char *path = below(proc, READ_ONLY[i]);
    if (access(path, F_OK)) continue;
    attach(path, path, NULL, MS_BIND | MS_REC, NULL);
    attach(path, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  }
  for (size_t i = 0; i < sizeof HIDDEN / sizeof *HIDDEN; i++)
    if (!access(below(proc, HIDDEN[i]), F_OK)) attach(null, below(proc, HIDDEN[i]), NULL, MS_BIND, NULL);
}

void move_into(int root, const char *name, const char *from) {
  char target[64];
  int fd;
  mkdirat(root, name, 0755);
  while ((fd = openat(root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
    if (unlinkat(root, name, 0) || mkdirat(root, name, 0755)) stop("cannot make /%s", name);
  snprintf(target, sizeof target, "/proc/self/fd/%d", fd);
  attach(from, target, NULL, MS_MOVE, NULL);
  close(fd);
}

void furnish_root(void) {
  if (chmod("/tmp", 01777)) {
    unlink("/tmp");
    make_directory("/tmp", 01777);
  }
  int hosts = open("/etc/hosts", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  static const char LOCAL[] = "127.0.0.1 localhost\n::1 localhost\n";
  if (hosts >= 0 && write(hosts, LOCAL, sizeof LOCAL - 1) < 0) stop("cannot write /etc/hosts");
  if (hosts >= 0) close(hosts);
}

void raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo"};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request)) stop("cannot raise the loopback interface");
  close(fd);
}

uint64_t bound_rights(void) {
  uint64_t kept = 0;
  for (size_t i = 0; i < sizeof KEPT_CAPABILITIES / sizeof *KEPT_CAPABILITIES; i++) kept |= 1ull << KEPT_CAPABILITIES[i];
  for (int i = 0; i <= LAST_CAPABILITY; i++)
    if (!(kept >> i & 1) && prctl(PR_CAPBSET_DROP, i) && errno != EINVAL) stop("cannot drop a capability");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) stop("cannot forbid new privileges");
  return kept;
}
