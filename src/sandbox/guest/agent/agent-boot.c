/*
 * The agent as the first process of a virtual machine: from the initramfs to its disks and its channel.
 *
 * Disks and channel are found by the names that the host gave to the devices, so their order does not matter. A failure
 * is printed on the console and ends the machine, so that the host need not wait for a timeout. See
 * docs/design/qemu.md.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "agent-boot.h"
#include "agent.h"

enum { DEVICE_WAIT_MS = 30000, POLL_EVERY_MS = 1, PAGE = 4096 };

static bool is_agent;

/*
 * The first process of the machine ends it; the agent is the first process of its pid namespace, whose end is enough.
 */
static _Noreturn void end_machine(void) {
  tcdrain(2);
  if (!is_agent) reboot(RB_AUTOBOOT);
  _exit(1);
}

_Noreturn void stop(const char *what, ...) {
  int reason = errno;
  va_list arguments;
  va_start(arguments, what);
  dprintf(2, "boot: ");
  vdprintf(2, what, arguments);
  dprintf(2, ": %s\n", strerror(reason));
  va_end(arguments);
  end_machine();
}

void attach(const char *source, const char *target, const char *type, unsigned long flags, const char *options) {
  if (mount(source, target, type, flags, options)) stop("cannot mount %s on %s", source, target);
}

void make_directory(const char *path, mode_t mode) {
  if ((mkdir(path, mode) && errno != EEXIST) || chmod(path, mode)) stop("cannot make %s", path);
}

void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) stop("cannot write %s", path);
  close(fd);
}

static bool holds(const char *path, const char *text) {
  char found[64] = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t length = read(fd, found, sizeof found - 1);
  close(fd);
  if (length > 0 && found[length - 1] == '\n') found[length - 1] = 0;
  return length >= 0 && !strcmp(found, text);
}

/* ---- devices ---- */

/* Loads them in the order of their names, and removes their files, which take memory. */
static void load_modules(void) {
  struct dirent **entries;
  int count = scandir("/modules", &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char path[300];
    if (entries[i]->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/modules/%s", entries[i]->d_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)) stop("cannot load %s", path);
    close(fd);
    unlink(path);
  }
}

/* Finds the device below `class` with this attribute and sets `node`. False if there is none yet. */
static bool find_device(const char *class, const char *attribute, const char *text, char node[64]) {
  DIR *list = opendir(class);
  if (!list) return false;
  bool is_found = false;
  for (struct dirent *entry; !is_found && (entry = readdir(list));) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s", class, entry->d_name, attribute);
    is_found = holds(path, text);
    snprintf(node, 64, "/dev/%.58s", entry->d_name);
  }
  closedir(list);
  return is_found;
}

static bool find_disk(const char *name, char node[64]) { return find_device("/sys/block", "serial", name, node); }

static void wait_for_device(int waited_ms, const char *what) {
  if (waited_ms >= DEVICE_WAIT_MS) errno = ETIMEDOUT, stop("no device %s", what);
  usleep(POLL_EVERY_MS * 1000);
}

/* The host's end is announced after the port. Before that, a read returns a false end of file. */
static int open_port(void) {
  char node[64];
  int waited_ms = 0;
  while (!find_device("/sys/class/virtio-ports", "name", "agent", node)) wait_for_device(waited_ms++, "agent");
  int port = open(node, O_RDWR | O_CLOEXEC);
  if (port < 0) stop("cannot open %s", node);
  for (struct pollfd polled = {port, POLLOUT, 0}; poll(&polled, 1, 0), polled.revents & POLLHUP;) wait_for_device(waited_ms++, "agent");
  int channel = fcntl(port, F_DUPFD_CLOEXEC, CHILD_ANSWER + 1);
  if (channel < 0) stop("cannot keep the channel");
  close(port);
  return channel;
}

/* ---- the root ---- */

/*
 * The machine's writes stay in memory as long as they fit; the rest is swapped to the disk for that, whose size beyond
 * the first MiB is the size of the machine's disk. A file takes some memory that cannot be swapped, so their number is
 * limited too.
 */
static void make_scratch(void) {
  char disk[64], path[96], options[96] = "mode=755";
  make_directory("/scratch", 0755);
  if (find_disk("scratch", disk)) {
    unsigned long long sectors = 0;
    struct sysinfo memory;
    snprintf(path, sizeof path, "/sys/block/%s/size", disk + strlen("/dev/"));
    FILE *size = fopen(path, "re");
    if (!size || fscanf(size, "%llu", &sectors) != 1 || sysinfo(&memory)) stop("cannot read %s", path);
    fclose(size);
    if (syscall(SYS_swapon, disk, 0)) stop("cannot swap to %s", disk);
    snprintf(options, sizeof options, "mode=755,size=%lluk,nr_inodes=%lu", sectors / 2 - 1024, memory.totalram / PAGE);
  }
  attach("tmpfs", "/scratch", "tmpfs", MS_NOSUID | MS_NODEV, options);
  make_directory("/scratch/upper", 0755);
  make_directory("/scratch/work", 0755);
}

/* The image below, and above it the writes of the machine. */
static void make_root(void) {
  char image[64];
  int waited_ms = 0;
  while (!find_disk("root", image)) wait_for_device(waited_ms++, "root");
  make_directory("/lower", 0755);
  make_directory("/new", 0755);
  attach(image, "/lower", "erofs", MS_RDONLY | MS_NOSUID | MS_NODEV, NULL);
  make_scratch();
  attach("overlay", "/new", "overlay", MS_NOSUID | MS_NODEV, "lowerdir=/lower,upperdir=/scratch/upper,workdir=/scratch/work,redirect_dir=on");
}

/*
 * Continues as pid 1 of a new pid namespace. The machine's own first process stays outside with the kernel threads: it
 * waits for the agent and then ends the machine.
 */
static void enter_processes(void) {
  pid_t agent = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWPID, NULL, NULL, NULL, NULL);
  if (agent < 0) stop("cannot start the agent");
  is_agent = agent == 0;
  if (is_agent) return;
  int status = 0;
  while (waitpid(agent, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) dprintf(2, "boot: the agent was ended by signal %d\n", WTERMSIG(status));
  end_machine();
}

/*
 * Real-time priority: however many processes a command starts, the agent gets processor time to kill them. Its children
 * are ordinary again.
 */
static void come_first(void) {
  struct sched_param first = {.sched_priority = 1};
  /* By a raw system call: musl has no function for it. */
  if (syscall(SYS_sched_setscheduler, 0, SCHED_RR | SCHED_RESET_ON_FORK, &first)) stop("cannot come before other processes");
}

int boot_machine(void) {
  make_directory("/sys", 0555);
  attach("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  attach("devtmpfs", "/dev", "devtmpfs", MS_NOSUID | MS_NOEXEC, NULL);
  load_modules();
  make_root();
  enter_processes();
  come_first();
  /* The kernel passes unknown words of its command line as environment variables. */
  watch_memory(getenv("memory_mb"), "/scratch");
  int channel = open_port();
  enter_place();
  return channel;
}
