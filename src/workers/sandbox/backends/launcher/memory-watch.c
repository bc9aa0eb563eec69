/*
 * Without a control group: adds up the memory of a sandbox's processes and of the kernel for it, and reports when the
 * limit is exceeded.
 *
 * Pages of one process, tables, mappings and descriptors are read from /proc of all descendants of the sandbox's first
 * process; shared pages are counted once; socket queues are read over a netlink socket that the sandbox opened in its
 * own network. The seccomp filter refuses memory that is not visible from here (unmapped files without names, System V
 * memory). See docs/design/namespaces.md.
 */
#define _GNU_SOURCE
#include "memory-watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A sandbox with more of these takes too long to measure, and counts as too large. */
enum { MAX_PIDS = 16384, MAX_FILES = 65536, MAX_MAPS_BYTES = 64 << 20, MAX_SCANNED = 512 };

/* Estimates of the kernel's memory for each: a descriptor may be the end of a pipe with a page in it. */
enum { MAPPING_BYTES = 256, DESCRIPTOR_BYTES = 4096 };

struct file {
  uint64_t inode, bytes;
  bool is_exact;
};

static struct file files[MAX_FILES];
static pid_t pids[MAX_PIDS];
static int file_count, pid_count;
static uint64_t maps_bytes;
static bool is_too_much;
static dev_t nameless;

static int open_of(pid_t pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  return open(path, O_RDONLY | O_CLOEXEC);
}

static const char *text_of(pid_t pid, const char *name) {
  static char text[8192];
  int fd = open_of(pid, name);
  ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[length < 0 ? 0 : length] = 0;
  return text;
}

/* The number of a line `name: number kB`; `name` begins with the end of the line before it. */
static uint64_t bytes_in(const char *text, const char *name) {
  const char *at = strstr(text, name);
  return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

/* ---- processes ---- */

static void add_children(pid_t pid) {
  char path[64], name[300], text[8192];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (!tasks) return;
  for (struct dirent *task; (task = readdir(tasks));) {
    if (task->d_name[0] == '.') continue;
    snprintf(name, sizeof name, "%s/children", task->d_name);
    int fd = openat(dirfd(tasks), name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    size_t kept = 0;
    for (ssize_t length; (length = read(fd, text + kept, sizeof text - 1 - kept)) > 0;) {
      text[kept += (size_t)length] = 0;
      /* The last number may continue in the next piece. */
      char *at = text, *end = strrchr(text, ' ');
      if (!end) continue;
      for (char *next; at < end && pid_count < MAX_PIDS; at = next + 1) pids[pid_count++] = (pid_t)strtol(at, &next, 10);
      kept = strlen(end + 1);
      memmove(text, end + 1, kept);
    }
    close(fd);
  }
  closedir(tasks);
}

static void find_processes(pid_t first) {
  pids[0] = first;
  pid_count = 1;
  for (int i = 0; i < pid_count; i++) add_children(pids[i]);
  is_too_much |= pid_count == MAX_PIDS;
}

/* ---- pages that may be shared ---- */

static void add_file(uint64_t inode, uint64_t bytes, bool is_exact) {
  if (file_count == MAX_FILES) is_too_much = true;
  else files[file_count++] = (struct file){inode, bytes, is_exact};
}

/* Mappings of a file without a name count in full: its pages stay even if no process has them in its tables. */
static uint64_t read_maps(pid_t pid) {
  static char text[65536];
  uint64_t mappings = 0;
  size_t kept = 0;
  int fd = open_of(pid, "maps");
  if (fd < 0) return 0;
  for (ssize_t length; maps_bytes < MAX_MAPS_BYTES && (length = read(fd, text + kept, sizeof text - 1 - kept)) > 0;) {
    text[kept += (size_t)length] = 0;
    maps_bytes += (uint64_t)length;
    char *at = text;
    for (char *end; (end = strchr(at, '\n')); at = end + 1, mappings++) {
      unsigned long from, to, inode;
      unsigned major, minor;
      *end = 0;
      if (sscanf(at, "%lx-%lx %*s %*s %x:%x %lu", &from, &to, &major, &minor, &inode) != 5) continue;
      if (inode && makedev(major, minor) == nameless) add_file(inode, to - from, false);
    }
    kept = strlen(at);
    memmove(text, at, kept);
  }
  close(fd);
  is_too_much |= maps_bytes >= MAX_MAPS_BYTES;
  return mappings;
}

static int by_inode(const void *a, const void *b) {
  const struct file *left = a, *right = b;
  if (left->inode != right->inode) return left->inode < right->inode ? -1 : 1;
  return (int)right->is_exact - (int)left->is_exact;
}

/* Counts each file once: its own size if a process has it open, or else its largest mapping. */
static uint64_t add_up_files(void) {
  uint64_t sum = 0;
  qsort(files, (size_t)file_count, sizeof *files, by_inode);
  for (int i = 0, next; i < file_count; i = next) {
    uint64_t most = files[i].bytes;
    for (next = i + 1; next < file_count && files[next].inode == files[i].inode; next++)
      if (!files[i].is_exact && files[next].bytes > most) most = files[next].bytes;
    sum += most;
  }
  return sum;
}

/* ---- descriptors ---- */

/*
 * Counts descriptors; also finds files without names among the first, in which a kernel such as gVisor's keeps its
 * guest's memory.
 */
static uint64_t read_descriptors(pid_t pid, bool is_kernel) {
  char path[64];
  struct stat st;
  uint64_t count = 0, scanned = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  if (stat(path, &st)) return 0;
  /* Kernels before 6.2 do not report it. */
  count = (uint64_t)st.st_size;
  if (count && !is_kernel) return count;
  DIR *list = opendir(path);
  if (!list) return count;
  uint64_t seen = 0;
  for (struct dirent *entry; (entry = readdir(list)); seen++)
    if (is_kernel && scanned++ < MAX_SCANNED && !fstatat(dirfd(list), entry->d_name, &st, 0) && st.st_dev == nameless)
      add_file(st.st_ino, (uint64_t)st.st_blocks * 512, true);
  closedir(list);
  return count ? count : seen;
}

/* ---- sockets ---- */

static uint64_t memory_of(const struct nlmsghdr *header, size_t before) {
  const struct rtattr *attribute = (const struct rtattr *)((const char *)NLMSG_DATA(header) + NLMSG_ALIGN(before));
  long length = (long)header->nlmsg_len - (long)NLMSG_LENGTH(NLMSG_ALIGN(before));
  for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
    bool is_memory = attribute->rta_type == (before == sizeof(struct unix_diag_msg) ? UNIX_DIAG_MEMINFO : INET_DIAG_SKMEMINFO);
    if (!is_memory || RTA_PAYLOAD(attribute) < sizeof(uint32_t) * SK_MEMINFO_VARS) continue;
    const uint32_t *values = RTA_DATA(attribute);
    uint64_t written = values[SK_MEMINFO_WMEM_ALLOC], queued = values[SK_MEMINFO_WMEM_QUEUED];
    return values[SK_MEMINFO_RMEM_ALLOC] + values[SK_MEMINFO_FWD_ALLOC] + values[SK_MEMINFO_OPTMEM] + (written > queued ? written : queued);
  }
  return 0;
}

static uint64_t ask_sockets(int netlink, const void *request, size_t length, size_t before) {
  static char answer[65536];
  uint64_t sum = 0;
  if (send(netlink, request, length, 0) < 0) return 0;
  for (ssize_t got; (got = recv(netlink, answer, sizeof answer, 0)) > 0;) {
    size_t left = (size_t)got;
    for (struct nlmsghdr *header = (struct nlmsghdr *)answer; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) return sum;
      sum += memory_of(header, before);
    }
  }
  return sum;
}

static uint64_t add_up_sockets(int netlink) {
  struct {
    struct nlmsghdr header;
    struct unix_diag_req body;
  } local = {{sizeof local, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 0, 0},
             {.sdiag_family = AF_UNIX, .udiag_states = ~0U, .udiag_show = UDIAG_SHOW_MEMINFO}};
  uint64_t sum = ask_sockets(netlink, &local, sizeof local, sizeof(struct unix_diag_msg));
  for (int i = 0; i < 4; i++) {
    struct {
      struct nlmsghdr header;
      struct inet_diag_req_v2 body;
    } inet = {{sizeof inet, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 0, 0},
              {.sdiag_family = i & 1 ? AF_INET6 : AF_INET, .sdiag_protocol = i & 2 ? IPPROTO_UDP : IPPROTO_TCP,
               .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1), .idiag_states = ~0U}};
    sum += ask_sockets(netlink, &inet, sizeof inet, sizeof(struct inet_diag_msg));
  }
  return sum;
}

/* ---- all of it ---- */

int open_socket_list(void) {
  int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  struct timeval patience = {.tv_usec = 200000};
  if (netlink >= 0) setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return netlink;
}

/* Sums the usage. With `is_exact`, pages that forks share are counted once, which takes longer. */
static uint64_t add_up(bool is_kernel, bool is_exact) {
  uint64_t sum = 0;
  file_count = 0;
  maps_bytes = 0;
  for (int i = 0; i < pid_count; i++) {
    const char *status = text_of(pids[i], "status");
    uint64_t anonymous = bytes_in(status, "\nRssAnon:") + bytes_in(status, "\nVmSwap:");
    sum += bytes_in(status, "\nVmPTE:");
    if (is_exact) {
      const char *rollup = text_of(pids[i], "smaps_rollup");
      if (*rollup) anonymous = bytes_in(rollup, "\nPss_Anon:") + bytes_in(rollup, "\nSwapPss:");
    }
    sum += anonymous + read_maps(pids[i]) * MAPPING_BYTES + read_descriptors(pids[i], is_kernel) * DESCRIPTOR_BYTES;
  }
  return sum + add_up_files();
}

uint64_t used_bytes(pid_t first, int netlink, bool is_kernel, uint64_t limit) {
  if (!nameless) {
    struct stat st;
    int fd = (int)syscall(SYS_memfd_create, "", 1 /* cloexec */);
    if (fd < 0 || fstat(fd, &st)) return 0;
    nameless = st.st_dev;
    close(fd);
  }
  is_too_much = false;
  find_processes(first);
  uint64_t sockets = netlink < 0 ? 0 : add_up_sockets(netlink);
  uint64_t sum = add_up(is_kernel, false) + sockets;
  if (sum > limit && !is_too_much) sum = add_up(is_kernel, true) + sockets;
  return is_too_much ? UINT64_MAX : sum;
}
