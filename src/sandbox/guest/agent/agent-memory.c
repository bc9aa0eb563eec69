/*
 * In a virtual machine: kills programs that together hold more memory than the size of the machine.
 *
 * Files of the machine are in its memory, with a disk to swap to. Programs would be swapped there too and use the free
 * part of the disk; so their memory is measured, resident or swapped, and the largest are killed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent-loop.h"

/* A killed process frees its memory a moment later. */
enum { CHECK_EVERY_MS = 500, CHECK_AFTER_KILL_MS = 1000, SLACK_KIB = 16 * 1024, MAX_PROCESSES = 1024 };

static int64_t limit_kib, next_check_ms;
static int disk = -1;

void watch_memory(const char *limit_mib, const char *disk_path) {
  limit_kib = limit_mib ? strtol(limit_mib, NULL, 10) * 1024 : 0;
  disk = open(disk_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static char *read_text(const char *path) {
  static char text[8192];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  close_fd(&fd);
  text[length < 0 ? 0 : length] = 0;
  return text;
}

/* The number of a line `name: number kB`; `name` begins with the end of the line before it. */
static int64_t number_in(const char *text, const char *name) {
  const char *at = strstr(text, name);
  return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/* Memory in use; pages in the swap cache count as memory too. */
static int64_t used_kib(void) {
  struct statfs files;
  if (disk < 0 || fstatfs(disk, &files)) return 0;
  const char *text = read_text("/proc/meminfo");
  int64_t swapped = number_in(text, "\nSwapTotal:") - number_in(text, "\nSwapFree:") - number_in(text, "\nSwapCached:");
  int64_t on_disk = (int64_t)(files.f_blocks - files.f_bfree) * (int64_t)files.f_bsize / 1024;
  return number_in(text, "\nAnonPages:") + number_in(text, "\nShmem:") + swapped - on_disk;
}

struct holder {
  pid_t pid;
  int64_t kib;
};

static int by_size(const void *a, const void *b) {
  int64_t left = ((const struct holder *)a)->kib, right = ((const struct holder *)b)->kib;
  return left < right ? 1 : left > right ? -1 : 0;
}

static int find_holders(struct holder *holders) {
  int count = 0;
  DIR *proc = opendir("/proc");
  if (!proc) return 0;
  for (struct dirent *entry; count < MAX_PROCESSES && (entry = readdir(proc));) {
    char path[300], *end;
    pid_t pid = (pid_t)strtol(entry->d_name, &end, 10);
    if (*end || pid <= 1) continue;
    snprintf(path, sizeof path, "/proc/%s/status", entry->d_name);
    const char *text = read_text(path);
    holders[count++] = (struct holder){pid, number_in(text, "\nRssAnon:") + number_in(text, "\nRssShmem:") + number_in(text, "\nVmSwap:")};
  }
  closedir(proc);
  qsort(holders, (size_t)count, sizeof *holders, by_size);
  return count;
}

/*
 * Records the reason before the kill, so that it is there when the end is detected. A guest may write there too: the
 * text is only for people.
 */
static void note_kill(void) {
  static int kills;
  char text[32];
  int fd = open("/dev/shm/.workcell-memory-kills", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0444);
  int length = snprintf(text, sizeof text, "oom_kill %d\n", ++kills);
  if (fd >= 0 && write(fd, text, (size_t)length) < 0) kills--;
  close_fd(&fd);
}

int64_t memory_due_in_ms(int64_t now) {
  if (limit_kib == 0) return -1;
  return next_check_ms > now ? next_check_ms - now : 0;
}

void check_memory(void) {
  static struct holder holders[MAX_PROCESSES];
  if (memory_due_in_ms(now_ms()) != 0) return;
  next_check_ms = now_ms() + CHECK_EVERY_MS;
  int64_t excess = used_kib() - limit_kib;
  if (excess <= SLACK_KIB) return;
  int count = find_holders(holders);
  note_kill();
  for (int i = 0; i < count && excess > 0; excess -= holders[i++].kib) kill(holders[i].pid, SIGKILL);
  next_check_ms = now_ms() + CHECK_AFTER_KILL_MS;
}
