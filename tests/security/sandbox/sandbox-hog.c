/*
 * Allocates memory by the method in argument 1, up to the MiB in argument 2, and keeps it: `hog anon 1200`. Prints
 * `took N` and renames itself for each 64 MiB. Reports a refused allocation, keeps the memory for three seconds, then
 * exits 0 if it still lives.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, STEP = 64 };

static char block[MIB];

static void refused(const char *what) {
  printf("refused %s %d\n", what, errno);
  fflush(stdout);
}

static void print_taken(long mib) {
  if (mib % STEP) return;
  char name[16];
  printf("took %ld\n", mib);
  fflush(stdout);
  snprintf(name, sizeof name, "took %ld", mib);
  prctl(PR_SET_NAME, name);
}

static void *pages(long mib, int flags) {
  void *at = mmap(NULL, (size_t)mib * MIB, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void take_anon(long mib) {
  char *at = pages(mib, MAP_PRIVATE);
  if (!at) return refused("mmap");
  for (long i = 0; i < mib; i++) memset(at + i * MIB, 1, MIB), print_taken(i + 1);
}

/* Shared pages stay when no process has them in its tables. */
static void take_shared(long mib) {
  char *at = pages(mib, MAP_SHARED);
  if (!at) return refused("mmap");
  for (long i = 0; i < mib; i++) {
    memset(at + i * MIB, 1, MIB);
    madvise(at + i * MIB, MIB, MADV_DONTNEED);
    print_taken(i + 1);
  }
}

/* Each file is sent to a socket that is never read, and closed: no table of descriptors has it. */
static void take_memfd(long mib, int is_hidden) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return refused("socketpair");
  for (long i = 0; i < mib; i += STEP) {
    int fd = (int)syscall(SYS_memfd_create, "hog", 0);
    if (fd < 0) return refused("memfd_create");
    for (int k = 0; k < STEP; k++)
      if (write(fd, block, MIB) != MIB) return refused("write");
    if (is_hidden) {
      char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
      struct iovec data = {&byte, 1};
      struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
      struct cmsghdr *header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof fd);
      memcpy(CMSG_DATA(header), &fd, sizeof fd);
      if (sendmsg(pair[0], &message, 0) != 1) return refused("sendmsg");
      close(fd);
    }
    print_taken(i + STEP);
  }
}

static void take_shm(long mib) {
  for (long i = 0; i < mib; i += STEP) {
    int id = shmget(IPC_PRIVATE, (size_t)STEP * MIB, IPC_CREAT | 0600);
    char *at = id < 0 ? (void *)-1 : shmat(id, NULL, 0);
    if (at == (void *)-1) return refused("shmget");
    memset(at, 1, (size_t)STEP * MIB);
    shmdt(at);
    print_taken(i + STEP);
  }
}

static long fill(int fd) {
  long bytes = 0;
  fcntl(fd, F_SETFL, O_NONBLOCK);
  for (ssize_t wrote; (wrote = write(fd, block, 65536)) > 0;) bytes += wrote;
  return bytes;
}

static int more_files(void) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &files);
}

/* Memory of a killed process does not count. */
static void end_with_child(int signal) {
  (void)signal;
  _exit(9);
}

/* In several processes: each has a limit of descriptors. */
static void take_queues(long mib, int is_pipe) {
  long bytes = 0, before = 0;
  signal(SIGCHLD, end_with_child);
  for (int processes = 0; bytes < mib * MIB && processes < 200; processes++) {
    int report[2];
    if (pipe(report)) return refused("pipe");
    pid_t child = fork();
    if (child < 0) return refused("fork");
    if (child == 0) {
      long mine = 0;
      more_files();
      for (int pair[2]; mine + bytes < mib * MIB; mine += fill(pair[1])) {
        if (is_pipe ? pipe(pair) : socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) break;
        if (is_pipe) fcntl(pair[1], F_SETPIPE_SZ, MIB);
      }
      if (write(report[1], &mine, sizeof mine) < 0) _exit(1);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    close(report[1]);
    long got = 0;
    if (read(report[0], &got, sizeof got) != sizeof got || got == 0) return refused("more");
    close(report[0]);
    bytes += got;
    for (; before + STEP <= bytes / MIB; before += STEP) print_taken(before + STEP);
  }
}

/* Each less than any limit of a process. */
static void take_by_many(long mib) {
  enum { EACH = 32 };
  signal(SIGCHLD, end_with_child);
  for (long i = 0; i < mib; i += EACH) {
    int report[2];
    char byte;
    if (pipe(report)) return refused("pipe");
    pid_t child = fork();
    if (child < 0) return refused("fork");
    if (child == 0) {
      char *at = pages(EACH, MAP_PRIVATE);
      if (!at) _exit(1);
      memset(at, 1, (size_t)EACH * MIB);
      if (write(report[1], "x", 1) != 1) _exit(1);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    close(report[1]);
    if (read(report[0], &byte, 1) != 1) return refused("more");
    close(report[0]);
    print_taken(i + EACH);
  }
}

/* Reading maps the page of zeros everywhere and fills only page tables: a page of them for each 2 MiB. */
static void take_tables(long mib) {
  for (long i = 0; i < mib; i += STEP) {
    size_t each = 2 * MIB, count = (size_t)STEP * MIB / 4096;
    char *at = mmap(NULL, each * count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return refused("mmap");
    madvise(at, each * count, MADV_NOHUGEPAGE);
    for (size_t k = 0; k < count; k++) *(volatile char *)(at + k * each);
    print_taken(i + STEP);
  }
}

int main(int argc, char **argv) {
  const char *way = argc > 2 ? argv[1] : "";
  long mib = argc > 2 ? atol(argv[2]) : 0;
  if (!strcmp(way, "anon")) take_anon(mib);
  else if (!strcmp(way, "shared")) take_shared(mib);
  else if (!strcmp(way, "memfd")) take_memfd(mib, 0);
  else if (!strcmp(way, "hidden")) take_memfd(mib, 1);
  else if (!strcmp(way, "shm")) take_shm(mib);
  else if (!strcmp(way, "sockets")) take_queues(mib, 0);
  else if (!strcmp(way, "pipes")) take_queues(mib, 1);
  else if (!strcmp(way, "many")) take_by_many(mib);
  else if (!strcmp(way, "tables")) take_tables(mib);
  else return 2;
  return sleep(3) ? 1 : 0;
}
