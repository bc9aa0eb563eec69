/*
 * What a program in a sandbox tries in order to get out, one line of `name result` each: `done` when the system let it,
 * else the number of the error. Run as `attacks <host pid>`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void report(const char *name, long result) {
  if (result >= 0) printf("%s done\n", name);
  else printf("%s %d\n", name, errno);
  fflush(stdout);
}

static void try_write(const char *name, const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  report(name, fd < 0 ? -1 : write(fd, text, strlen(text)));
}

static void try_namespaces(void) {
  static const struct {
    const char *name;
    int flag;
  } spaces[] = {{"user", CLONE_NEWUSER}, {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID}, {"net", CLONE_NEWNET}, {"cgroup", 0x02000000}};
  char label[64];
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
    snprintf(label, sizeof label, "unshare-%s", spaces[i].name);
    report(label, unshare(spaces[i].flag));
    snprintf(label, sizeof label, "clone-%s", spaces[i].name);
    long pid = syscall(SYS_clone, SIGCHLD | spaces[i].flag, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    report(label, pid);
  }
  uint64_t arguments[11] = {CLONE_NEWUSER};
  report("clone3", syscall(435, arguments, sizeof arguments));
  int fd = open("/proc/1/ns/mnt", O_RDONLY);
  report("setns", fd < 0 ? -1 : setns(fd, 0));
}

static void try_devices(void) {
  report("mknod-disk", mknod("/tmp/disk", S_IFBLK | 0600, makedev(254, 0)));
  report("mknod-mem", mknod("/tmp/mem", S_IFCHR | 0600, makedev(1, 1)));
  report("open-mem", open("/dev/mem", O_RDONLY));
  report("open-kmsg", open("/dev/kmsg", O_RDONLY));
  report("open-kvm", open("/dev/kvm", O_RDWR));
  report("open-fuse", open("/dev/fuse", O_RDWR));
}

static void try_sockets(pid_t host_pid) {
  report("socket-vsock", socket(40, SOCK_STREAM, 0));
  report("socket-packet", socket(AF_PACKET, SOCK_RAW, 0));
  report("socket-raw", socket(AF_INET, SOCK_RAW, 1));
  report("socket-alg", socket(38, SOCK_SEQPACKET, 0));
  struct sockaddr_un host = {.sun_family = AF_UNIX};
  int length = snprintf(host.sun_path + 1, sizeof host.sun_path - 1, "workcell-host-secret-%d", (int)host_pid);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  report("abstract-socket", connect(fd, (struct sockaddr *)&host, (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)length)));
}

static void try_kernel(void) {
  struct timespec time = {0, 0};
  char buffer[256] = {0};
  report("mount", mount("tmpfs", "/tmp", "tmpfs", 0, NULL));
  report("mount-proc", mount("proc", "/proc", "proc", 0, NULL));
  report("remount", mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND, NULL));
  report("umount", umount2("/proc/sys", MNT_DETACH));
  report("pivot-root", syscall(SYS_pivot_root, ".", "."));
  report("chroot", chroot("/tmp"));
  report("open-tree", syscall(428, AT_FDCWD, "/", 1));
  report("open-by-handle", syscall(SYS_open_by_handle_at, AT_FDCWD, buffer, O_RDONLY));
  report("keyctl", syscall(SYS_keyctl, 0, -3, 1));
  report("add-key", syscall(SYS_add_key, "user", "x", "y", 1, -3));
  report("request-key", syscall(SYS_request_key, "user", "x", NULL, 0));
  report("bpf", syscall(SYS_bpf, 0, buffer, sizeof buffer));
  report("perf-event", syscall(SYS_perf_event_open, buffer, 0, -1, -1, 0));
  report("userfaultfd", syscall(323, 0));
  report("io-uring", syscall(425, 8, buffer));
  report("init-module", syscall(SYS_init_module, buffer, 0, ""));
  report("kexec", syscall(SYS_kexec_load, 0, 0, NULL, 0));
  report("reboot", syscall(SYS_reboot, 0xfee1dead, 672274793, 0x1234567, NULL));
  report("swapoff", syscall(SYS_swapoff, "/x"));
  report("clock", clock_settime(CLOCK_REALTIME, &time));
  report("hostname", sethostname("owned", 5));
  report("syslog", syscall(SYS_syslog, 3, buffer, sizeof buffer));
  report("nice", setpriority(0, 0, -10));
}

static void try_processes(pid_t host) {
  struct iovec local = {&host, sizeof host}, remote = {(void *)0x400000, sizeof host};
  report("ptrace-agent", ptrace(PTRACE_ATTACH, 1, NULL, NULL));
  report("read-agent", process_vm_readv(1, &local, 1, &remote, 1, 0));
  report("agent-memory", open("/proc/1/mem", O_RDWR));
  report("agent-descriptors", open("/proc/1/fd/3", O_RDWR));
  report("ptrace-host", ptrace(PTRACE_ATTACH, host, NULL, NULL));
  report("kill-host", kill(host, 0));
}

/* Never there for long enough to be seen, and each in a session of its own. */
static void run_away(void) {
  if (fork()) pause();
  for (;;) {
    if (fork() > 0) _exit(0);
    setsid();
  }
}

static void *stay(void *unused) {
  for (;;) pause();
  return unused;
}

/* Lists show a process by its first thread: without it this one looks dead. */
static void play_dead(void) {
  pthread_t other;
  if (fork()) pause();
  if (!pthread_create(&other, NULL, stay, NULL)) pthread_exit(NULL);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "run")) run_away();
  if (argc > 1 && !strcmp(argv[1], "play-dead")) play_dead();
  pid_t host = argc > 1 ? atoi(argv[1]) : 1;
  try_namespaces();
  try_devices();
  try_sockets(host);
  try_kernel();
  try_processes(host);
  try_write("core-pattern", "/proc/sys/kernel/core_pattern", "|/bin/sh");
  try_write("modprobe", "/proc/sys/kernel/modprobe", "/tmp/x");
  try_write("sysrq", "/proc/sysrq-trigger", "b");
  try_write("ip-forward", "/proc/sys/net/ipv4/ip_forward", "1");
  try_write("uid-map", "/proc/self/uid_map", "0 0 1");
  try_write("agent-binary", "/proc/1/exe", "x");
  return 0;
}
