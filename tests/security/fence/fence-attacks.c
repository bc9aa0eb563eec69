/* One system call that would leave the fence, by name. Prints THROUGH if it worked. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
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
#include <unistd.h>

static int through(int is_through) {
  puts(is_through ? "THROUGH" : strerror(errno));
  return 0;
}

static int unix_socket(const char *name, int is_abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  memcpy(address.sun_path + is_abstract, name, length);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return through(!connect(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + is_abstract + length)));
}

static int tcp(const char *host, const char *port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  inet_pton(AF_INET, host, &address.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return through(!connect(fd, (struct sockaddr *)&address, sizeof address));
}

static int read_memory(pid_t pid) {
  char path[64], byte;
  struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
  snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
  return through(open(path, O_RDONLY) >= 0 || process_vm_readv(pid, &here, 1, &there, 1, 0) == 1);
}

/* A handle of the root directory names every file of its file system, whatever is mounted above. */
static int by_handle(void) {
  struct {
    struct file_handle head;
    char bytes[128];
  } handle = {.head.handle_bytes = 128};
  int mount_id, root = open("/", O_RDONLY | O_DIRECTORY);
  if (name_to_handle_at(AT_FDCWD, "/etc", &handle.head, &mount_id, 0)) return through(0);
  return through(open_by_handle_at(root, &handle.head, O_RDONLY) >= 0);
}

static int new_user(void) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) return through(1);
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWUSER, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  if (child > 0) return through(1);
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } arguments = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  child = (pid_t)syscall(435 /* clone3 */, &arguments, sizeof arguments);
  if (child == 0) _exit(0);
  return through(child > 0);
}

static int device(void) {
  if (mknod("disk", S_IFBLK | 0600, makedev(254, 0)) && mknod("disk", S_IFCHR | 0600, makedev(1, 1))) return through(0);
  int fd = open("disk", O_RDONLY);
  unlink("disk");
  return through(fd >= 0);
}

int main(int argc, char **argv) {
  const char *name = argv[1], *first = argc > 2 ? argv[2] : "", *second = argc > 3 ? argv[3] : "";
  if (!strcmp(name, "ptrace")) return through(!ptrace(PTRACE_SEIZE, atoi(first), 0, 0));
  if (!strcmp(name, "memory")) return read_memory(atoi(first));
  if (!strcmp(name, "signal")) return through(!kill(atoi(first), 0));
  if (!strcmp(name, "setns")) return through(!setns(open(first, O_RDONLY), 0));
  if (!strcmp(name, "abstract")) return unix_socket(first, 1);
  if (!strcmp(name, "unix")) return unix_socket(first, 0);
  if (!strcmp(name, "tcp")) return tcp(first, second);
  if (!strcmp(name, "mount")) return through(!mount("none", "/mnt", "tmpfs", 0, 0) || !mount(".", ".", 0, MS_BIND, 0));
  if (!strcmp(name, "remount")) return through(!mount(0, first, 0, MS_REMOUNT | MS_BIND, 0));
  if (!strcmp(name, "umount")) return through(!umount2(first, MNT_DETACH));
  if (!strcmp(name, "chroot")) return through(!chroot(first));
  if (!strcmp(name, "pivot")) return through(!syscall(SYS_pivot_root, ".", "."));
  if (!strcmp(name, "tree")) return through(syscall(428 /* open_tree */, AT_FDCWD, first, 1) >= 0);
  if (!strcmp(name, "handle")) return by_handle();
  if (!strcmp(name, "namespace")) return new_user();
  if (!strcmp(name, "device")) return device();
  if (!strcmp(name, "keyring")) return through(syscall(SYS_keyctl, 0 /* get id */, -4 /* user */, 1) >= 0);
  if (!strcmp(name, "bpf")) return through(syscall(SYS_bpf, 5, 0, 0) >= 0);
  if (!strcmp(name, "raw")) return through(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0);
  if (!strcmp(name, "vsock")) return through(socket(40, SOCK_STREAM, 0) >= 0);
  if (!strcmp(name, "setuid")) return through(geteuid() != getuid());
  if (!strcmp(name, "descriptors")) {
    int open_count = 0;
    for (int fd = 3; fd < 1024; fd++) open_count += fcntl(fd, F_GETFD) >= 0;
    return through(open_count > 0);
  }
  puts("unknown attack");
  return 1;
}
