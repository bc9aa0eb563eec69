/*
 * Makes the place of one sandbox out of namespaces and starts the agent in it.
 *
 * Two processes: the one the daemon started stays outside and ends with the sandbox; its child becomes process 1 inside.
 * Nothing is ever mounted where the host sees it, so there is nothing to take down when either is killed. The order of
 * the steps and what each keeps out is in docs/design/namespaces.md.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in the kernel's headers, which not every C library has. */
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
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { CHANNEL = 3, MAX_CGROUPS = 8, IDS = 65536, LAST_CAPABILITY = 63 };

/* What root in a sandbox keeps: enough to install packages and to become another user, and only towards its own files. */
static const int KEPT_CAPABILITIES[] = {0 /* chown */,  1 /* dac_override */, 3 /* fowner */,  4 /* fsetid */,
                                        5 /* kill */,   6 /* setgid */,       7 /* setuid */, 10 /* net_bind_service */};

static struct {
  const char *root, *agent, *seccomp, *hostname, *cgroups[MAX_CGROUPS];
  int cgroup_count;
  unsigned long disk_mb, first_id, max_processes, memory_mb;
} given = {.hostname = "sandbox"};

static void stop(const char *format, ...) {
  int error = errno;
  va_list details;
  va_start(details, format);
  dprintf(2, "launcher: ");
  vdprintf(2, format, details);
  dprintf(2, ": %s\n", strerror(error));
  va_end(details);
  _exit(126);
}

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) stop("cannot write %s", path);
  close(fd);
}

static void read_arguments(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    if (!strcmp(name, "--root")) given.root = value;
    else if (!strcmp(name, "--agent")) given.agent = value;
    else if (!strcmp(name, "--seccomp")) given.seccomp = value;
    else if (!strcmp(name, "--hostname")) given.hostname = value;
    else if (!strcmp(name, "--disk-mb")) given.disk_mb = strtoul(value, NULL, 10);
    else if (!strcmp(name, "--first-id")) given.first_id = strtoul(value, NULL, 10);
    else if (!strcmp(name, "--max-processes")) given.max_processes = strtoul(value, NULL, 10);
    else if (!strcmp(name, "--max-data-mb")) given.memory_mb = strtoul(value, NULL, 10);
    else if (!strcmp(name, "--cgroup") && given.cgroup_count < MAX_CGROUPS) given.cgroups[given.cgroup_count++] = value;
  }
  errno = EINVAL;
  if (!given.root || !given.agent || !given.seccomp || !given.disk_mb) stop("root, agent, seccomp and disk are needed");
}

/* ---- outside ---- */

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

/* The image with its owners moved into the range of this sandbox: what is root's there belongs to no one here. */
static int open_image(pid_t child) {
  if (!given.first_id) return open(given.root, O_PATH | O_DIRECTORY | O_CLOEXEC);

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
  if (sendmsg(to, &message, 0) != 1) stop("cannot hand over the image");
}

static int receive_fd(int from) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int fd;
  /* Nothing comes when the other half failed; it has said why. */
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message)) _exit(126);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

/* ---- inside ---- */

static void attach(const char *source, const char *target, const char *type, unsigned long flags, const char *options) {
  if (mount(source, target, type, flags, options)) stop("cannot mount %s", target);
}

/* A copy that no file of the host stands behind. */
static int copy_agent(void) {
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

static void make_directory(const char *path, mode_t mode) {
  if ((mkdir(path, mode) && errno != EEXIST) || chmod(path, mode)) stop("cannot make %s", path);
}

static void make_node(const char *name) {
  char from[64], to[64];
  snprintf(from, sizeof from, "/dev/%s", name);
  snprintf(to, sizeof to, "/tmp/dev/%s", name);
  int fd = open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) stop("cannot make %s", to);
  close(fd);
  attach(from, to, NULL, MS_BIND, NULL);
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
  for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++) make_node(NODES[i]);
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

/* The image below, a private layer above that lives in memory and is as large as the disk of the sandbox. */
static int make_root(int image) {
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

static void enter(int root) {
  if (fchdir(root) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/")) stop("cannot enter the root");
  /* From here on every path is one of the guest. */
  if (chmod("/tmp", 01777)) {
    unlink("/tmp");
    make_directory("/tmp", 01777);
  }
  int hosts = open("/etc/hosts", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  static const char LOCAL[] = "127.0.0.1 localhost\n::1 localhost\n";
  if (hosts >= 0 && write(hosts, LOCAL, sizeof LOCAL - 1) < 0) stop("cannot write /etc/hosts");
  if (hosts >= 0) close(hosts);
}

static void raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo"};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request)) stop("cannot raise the loopback interface");
  close(fd);
}

static void limit(int resource, rlim_t value) {
  struct rlimit now;
  if (getrlimit(resource, &now)) stop("cannot read a limit");
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value) value = now.rlim_max;
  now.rlim_cur = now.rlim_max = value;
  if (setrlimit(resource, &now)) stop("cannot set a limit");
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

static void filter_calls(int filter) {
  static uint64_t program[4096 / 8];
  ssize_t length = read(filter, program, sizeof program);
  struct {
    uint16_t count;
    void *at;
  } description = {(uint16_t)(length / 8), program};
  if (length <= 0 || length % 8 || prctl(PR_SET_SECCOMP, 2 /* filter */, &description)) stop("cannot filter system calls");
}

static void be_inside(int image, int agent, int filter) {
  /* Not mapped, it has to be of the mounts in here. */
  if (!given.first_id && (image = open(given.root, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) stop("cannot open %s", given.root);
  char *argv[] = {"agent", "--fd", "3", NULL}, *env[] = {NULL};
  if (setsid() < 0 || setresgid(0, 0, 0) || setresuid(0, 0, 0)) stop("cannot become root");
  attach(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  int root = make_root(image);
  make_devices();
  make_proc();
  move_into(root, "dev", "/tmp/dev");
  move_into(root, "proc", "/tmp/proc");
  raise_loopback();
  if (sethostname(given.hostname, strlen(given.hostname))) stop("cannot set the host name");
  enter(root);

  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 65536);
  if (given.max_processes) limit(RLIMIT_NPROC, given.max_processes);
  if (given.memory_mb) limit(RLIMIT_DATA, (rlim_t)given.memory_mb << 20);
  syscall(SYS_close_range, CHANNEL + 1, ~0U, 4 /* on exec */);
  drop_privileges();
  /* After the last change of credentials, which would take it away. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  filter_calls(filter);
  syscall(SYS_execveat, agent, "", argv, env, AT_EMPTY_PATH);
  stop("cannot start the agent");
}

static pid_t child;

/* The first process of the sandbox takes all others with it. */
static void end_sandbox(int signal) {
  (void)signal;
  kill(child, SIGKILL);
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int i = 0; i < given.cgroup_count; i++) write_file(given.cgroups[i], "0");
  int agent = copy_agent(), filter = open(given.seccomp, O_RDONLY | O_CLOEXEC), pair[2];
  if (filter < 0) stop("cannot read %s", given.seccomp);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) stop("cannot make a pair");

  unsigned long spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  child = (pid_t)syscall(SYS_clone, SIGCHLD | spaces, NULL, NULL, NULL, NULL);
  if (child < 0) stop("cannot make namespaces");
  if (child == 0) {
    close(pair[0]);
    be_inside(receive_fd(pair[1]), agent, filter);
  }
  signal(SIGTERM, end_sandbox);
  close(pair[1]);
  close(CHANNEL);
  map_ids(child);
  send_fd(pair[0], open_image(child));
  close(pair[0]);
  close(agent);

  /* It can be reaped only when nothing in its process namespace lives. */
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) stop("cannot wait");
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
