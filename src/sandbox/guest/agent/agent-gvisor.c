/*
 * The agent as the first process of a gVisor sandbox: it reduces the memory to the size of the sandbox.
 *
 * gVisor's kernel takes the memory of all programs from one file, which the host lets grow in steps of a GiB. The agent
 * reserves the excess: it uses a single byte of every part that the kernel allocates at once, so that the host pays
 * little for it. When the rest is used up, programs that want more get SIGSEGV. See docs/design/gvisor.md.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "agent-loop.h"

/* Allocation unit of gVisor's kernel; and how many bytes are requested in one call. */
enum { PART_BYTES = 2 << 20, BYTES_A_CALL = 512 };

enum { PAGE_BYTES = 4096, STACK_BYTES = 65536 };

/*
 * A killed command frees its memory a moment later. An operation that fails after this many retries has another cause.
 */
enum { MAX_RETRIES = 1000, RETRY_AFTER_NS = 5000000 };

/*
 * Counts retries. In shared memory, because it is written when no memory is left to copy a page that a fork shares.
 * Null: this is not gVisor.
 */
static int *retries;

static void hold(size_t mib) {
  size_t parts = mib * (1 << 20) / PART_BYTES;
  uint8_t *at = mmap(NULL, (parts + 1) * PART_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (at == MAP_FAILED || zero < 0 || madvise(at, (parts + 1) * PART_BYTES, MADV_DONTFORK)) die("cannot hold memory");
  at += PART_BYTES - (uintptr_t)at % PART_BYTES;
  while (parts > 0) {
    struct iovec bytes[BYTES_A_CALL];
    int count = 0;
    for (; count < BYTES_A_CALL && parts > 0; count++, parts--, at += PART_BYTES) bytes[count] = (struct iovec){at, 1};
    if (readv(zero, bytes, count) != count) die("cannot hold memory");
  }
  close(zero);
}

static void on_growth(int signal) { (void)signal; }

bool has_terminal_signals(void) { return !retries; }

bool make_room(void) {
  if (!retries || getpid() != 1 || ++*retries > MAX_RETRIES) return false;
  kill(-1, SIGKILL);
  nanosleep(&(struct timespec){.tv_nsec = RETRY_AFTER_NS}, NULL);
  return true;
}

void note_progress(void) {
  if (retries) *retries = 0;
}

/* The agent retries then. */
static void on_fault(int number) {
  if (!make_room()) signal(number, SIG_DFL);
}

/*
 * gVisor of Debian 12 refuses a statx flag that GNU's ls and stat set. There a library is preloaded into programs,
 * which clears that flag.
 */
static void mend_statx(void) {
  static const char LIBRARY[] = "/etc/ld.so.statx\n";
  uint8_t found[256];
  bool is_well = syscall(SYS_statx, AT_FDCWD, "/", AT_NO_AUTOMOUNT, 0x7ff, found) == 0;
  if (is_well || rename("/tmp/.statx", "/etc/ld.so.statx")) {
    unlink("/tmp/.statx");
    return;
  }
  int fd = open("/etc/ld.so.preload", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd >= 0 && write(fd, LIBRARY, sizeof LIBRARY - 1) < 0) die("no room for /etc/ld.so.preload");
  close_fd(&fd);
}

void settle_in_gvisor(const char *own_file, const char *reserved_mib) {
  /* The agent's own file is not needed after the start, and counts towards the disk of the sandbox. */
  unlink(own_file);
  use_marks();
  mend_statx();
  /* When the kernel's file reaches its limit, the host signals gVisor, which signals its first process. */
  sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = on_growth}, NULL);
  /*
   * A signal stack in shared memory, for the same reason as the count below it. Its pages are allocated now, so that
   * they exist when memory is exhausted. Children do not get it: they just end.
   */
  uint8_t *shared = mmap(NULL, PAGE_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) die("no stack for faults");
  memset(shared, 0, PAGE_BYTES + STACK_BYTES);
  madvise(shared, PAGE_BYTES + STACK_BYTES, MADV_DONTFORK);
  retries = (int *)shared;
  sigaltstack(&(stack_t){.ss_sp = shared + PAGE_BYTES, .ss_size = STACK_BYTES}, NULL);
  sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER}, NULL);
  hold((size_t)strtoul(reserved_mib, NULL, 10));
}
