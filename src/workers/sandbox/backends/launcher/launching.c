/*
 * Makes the environment of one sandbox out of namespaces: the part that every backend with a launcher needs.
 *
 * Two processes: the one the daemon started stays outside and ends with the sandbox; its child becomes process 1
 * inside. No mount is visible on the host, so nothing has to be unmounted when either is killed. The order of the steps
 * and the purpose of each is in docs/design/namespaces.md.
 */
#define _GNU_SOURCE
#include "launching.h"
#include "memory-watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Number from the kernel's headers, which not every C library has. */
#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif
#define TREE_CLONE 1
#define TREE_CLOEXEC O_CLOEXEC
#define MOVE_FROM_FD 0x00000004
#define ATTR_RDONLY 0x00000001
#define ATTR_NOSUID 0x00000002
#define ATTR_NODEV 0x00000004
#define ATTR_IDMAP 0x00100000
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

enum { IDS = 65536, LOOK_EVERY_MS = 200 };

struct given given = {.hostname = "sandbox"};

void stop(const char *what, ...) {
  int error = errno;
  va_list details;
  va_start(details, what);
  dprintf(2, "launcher: ");
  vdprintf(2, what, details);
  dprintf(2, ": %s\n", strerror(error));
  va_end(details);
  _exit(126);
}

bool take_argument(const char *name, const char *value) {
  if (!strcmp(name, "--root")) given.root = value;
  else if (!strcmp(name, "--agent")) given.agent = value;
  else if (!strcmp(name, "--hostname")) given.hostname = value;
  else if (!strcmp(name, "--disk-mb")) given.disk_mb = strtoul(value, NULL, 10);
  else if (!strcmp(name, "--first-id")) given.first_id = strtoul(value, NULL, 10);
  else if (!strcmp(name, "--watch-mb")) given.watch_mb = strtoul(value, NULL, 10);
  else if (!strcmp(name, "--cgroup") && given.cgroup_count < MAX_CGROUPS) given.cgroups[given.cgroup_count++] = value;
  else return false;
  return true;
}

/* ---- outside ---- */

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) stop("cannot write %s", path);
  close(fd);
}

static void map_ids(pid_t child) {
  char path[64], text[64];
  bool is_range = given.first_id != 0;
  if (!is_range) {
    snprintf(path, sizeof path, "/proc/%d/setgroups", (int)child);
    write_file(path, "deny");
  }
  snprintf(path, sizeof path, "/proc/%d/uid_map", (int)child);
  snprintf(text, sizeof text, "0 %lu %d", is_range ? given.first_id : getuid(), is_range ? IDS : 1);
  write_file(path, text);
  snprintf(path, sizeof path, "/proc/%d/gid_map", (int)child);
  snprintf(text, sizeof text, "0 %lu %d", is_range ? given.first_id : getgid(), is_range ? IDS : 1);
  write_file(path, text);
}

static int open_root(void) {
  int root = open(given.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) stop("cannot open %s", given.root);
  return root;
}

/*
 * Maps the owners of the image into the id range of this sandbox: files of its root belong to no account of the host.
 */
static int open_image(pid_t child) {
  if (!given.first_id) return open_root();

  char path[64];
  struct {
    uint64_t set, clear, propagation, userns;
  } attributes = {.set = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_IDMAP};
  snprintf(path, sizeof path, "/proc/%d/ns/user", (int)child);
  int userns = open(path, O_RDONLY | O_CLOEXEC);
  int tree = (int)syscall(SYS_open_tree, AT_FDCWD, given.root, TREE_CLONE | TREE_CLOEXEC);
  if (userns < 0 || tree < 0) stop("cannot take %s", given.root);
  attributes.userns = (uint64_t)userns;
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes)) stop("cannot map the owners of %s", given.root);
  close(userns);
  return tree;
}

static void send_fd(int to, int fd) {
  char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  if (sendmsg(to, &message, 0) != 1) stop("cannot hand over a descriptor");
}

static int receive_fd(int from) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int fd;
  /* Without a message the other process failed, and has printed the reason. */
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message)) _exit(126);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

static pid_t child;

/* Ends the sandbox: the kernel kills all processes with its first. */
static void end_sandbox(int signal) {
  (void)signal;
  kill(child, SIGKILL);
}

/*
 * Switches to an id of the sandbox to create its user namespace, because the kernel also charges the sandbox's watches,
 * timers and queues to the creator: nothing is then charged to root. The rights are kept; only the id changes for that
 * moment.
 */
static void become_maker(uid_t id) {
  struct {
    uint32_t version, pid;
  } header = {0x20080522, 0};
  uint32_t sets[6];
  if (setresuid((uid_t)-1, id, (uid_t)-1)) stop("cannot become %u", (unsigned)id);
  if (id == 0) return;
  if (syscall(SYS_capget, &header, sets)) stop("cannot read rights");
  sets[0] = sets[1], sets[3] = sets[4];
  if (syscall(SYS_capset, &header, sets)) stop("cannot keep rights");
}

/*
 * Limits all sandboxes of a user together to half of the user's limits, so that the server keeps the other half. A
 * namespace keeps the limits of the moment in which it is made.
 */
static void leave_half(void) {
  static const int RESOURCES[] = {RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE};
  struct rlimit now;
  for (size_t i = 0; i < sizeof RESOURCES / sizeof *RESOURCES; i++) {
    if (getrlimit(RESOURCES[i], &now)) stop("cannot read a limit");
    if (now.rlim_cur == RLIM_INFINITY) continue;
    now.rlim_cur /= 2;
    if (setrlimit(RESOURCES[i], &now)) stop("cannot set a limit");
  }
}

/* Waits for the sandbox, and ends it when it uses too much memory. */
static void watch_until_it_ends(int *status, int socket_list) {
  uint64_t limit = (uint64_t)given.watch_mb << 20;
  struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, NULL);
  while (waitpid(child, status, WNOHANG) == 0) {
    uint64_t used = used_bytes(child, socket_list, given.is_kernel, limit);
    if (used > limit) {
      if (used == UINT64_MAX) dprintf(2, "launcher: its programs use too much to be counted\n");
      else dprintf(2, "launcher: its programs used %lu MiB, more than its memory_mb\n", (unsigned long)(used >> 20));
      kill(child, SIGKILL);
      return;
    }
    sigtimedwait(&ended, NULL, &pause);
  }
}

void launch(void (*be_inside)(int image)) {
  int pair[2], socket_list = -1;
  pid_t daemon = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int i = 0; i < given.cgroup_count; i++) write_file(given.cgroups[i], "0");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) stop("cannot make a pair");

  unsigned long spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  leave_half();
  if (given.first_id) become_maker((uid_t)given.first_id);
  child = (pid_t)syscall(SYS_clone, SIGCHLD | spaces, NULL, NULL, NULL, NULL);
  if (child < 0) stop("cannot make namespaces");
  if (child == 0) {
    close(pair[0]);
    if (given.watch_mb) {
      int list = open_socket_list();
      if (list < 0) stop("cannot list sockets");
      send_fd(pair[1], list);
      close(list);
    }
    be_inside(receive_fd(pair[1]));
  }
  signal(SIGTERM, end_sandbox);
  if (given.first_id) {
    become_maker(0);
    /* Set again: changing the uid clears PDEATHSIG. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != daemon) end_sandbox(SIGTERM);
  }
  close(pair[1]);
  close(CHANNEL);
  if (given.watch_mb) socket_list = receive_fd(pair[0]);
  map_ids(child);
  send_fd(pair[0], open_image(child));
  close(pair[0]);

  /* The kernel lets it be reaped only after the last process of its namespace. */
  int status = -1;
  if (given.watch_mb) watch_until_it_ends(&status, socket_list);
  while (status == -1 && waitpid(child, &status, 0) < 0)
    if (errno != EINTR) stop("cannot wait");
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* ---- inside ---- */

void attach(const char *source, const char *target, const char *type, unsigned long flags, const char *options) {
  if (mount(source, target, type, flags, options)) stop("cannot mount %s", target);
}

int copy_agent(void) {
  int from = open(given.agent, O_RDONLY | O_CLOEXEC);
  int copy = (int)syscall(SYS_memfd_create, "agent", 1 /* cloexec */);
  struct stat st;
  if (from < 0 || copy < 0 || fstat(from, &st)) stop("cannot read %s", given.agent);
  for (off_t left = st.st_size; left > 0;) {
    ssize_t sent = sendfile(copy, from, NULL, (size_t)left);
    if (sent <= 0) stop("cannot copy %s", given.agent);
    left -= sent;
  }
  close(from);
  return copy;
}

void make_directory(const char *path, mode_t mode) {
  if ((mkdir(path, mode) && errno != EEXIST) || chmod(path, mode)) stop("cannot make %s", path);
}

void make_node(const char *directory, const char *name) {
  char from[64], to[64];
  snprintf(from, sizeof from, "/dev/%s", name);
  snprintf(to, sizeof to, "%s/%s", directory, name);
  int fd = open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) stop("cannot make %s", to);
  close(fd);
  attach(from, to, NULL, MS_BIND, NULL);
}

/* Mounts the image below, and above it a private layer in memory, as large as the disk of the sandbox. */
static int make_layers(int image) {
  char options[256], lower[64];
  snprintf(options, sizeof options, "mode=755,size=%lum,nr_inodes=%lu", given.disk_mb, given.disk_mb * 1024 + 65536);
  attach("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, options);
  for (const char *const *name = (const char *const[]){"/tmp/upper", "/tmp/work", "/tmp/lower", "/tmp/root", NULL}; *name; name++)
    make_directory(*name, 0755);

  snprintf(lower, sizeof lower, "/proc/self/fd/%d", image);
  if (given.first_id) {
    if (syscall(SYS_move_mount, image, "", AT_FDCWD, "/tmp/lower", MOVE_FROM_FD)) stop("cannot mount the image");
    snprintf(lower, sizeof lower, "/tmp/lower");
  }
  snprintf(options, sizeof options, "lowerdir=%s,upperdir=/tmp/upper,workdir=/tmp/work,userxattr", lower);
  attach("overlay", "/tmp/root", "overlay", MS_NOSUID | MS_NODEV, options);
  int root = open("/tmp/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) stop("cannot open the root");
  return root;
}

int make_root(int image) {
  /* An image that is not mapped has to be opened among the mounts in here. */
  if (!given.first_id) image = open_root();
  if (setsid() < 0 || setresgid(0, 0, 0) || setresuid(0, 0, 0)) stop("cannot become root");
  attach(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  return make_layers(image);
}

void pivot_into(int root) {
  if (fchdir(root) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/")) stop("cannot enter the root");
}

void limit(int resource, rlim_t value) {
  struct rlimit now;
  if (getrlimit(resource, &now)) stop("cannot read a limit");
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value) value = now.rlim_max;
  now.rlim_cur = now.rlim_max = value;
  if (setrlimit(resource, &now)) stop("cannot set a limit");
}
