/* Kills a command with all its descendants. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-loop.h"

/*
 * Killing a command takes a few scans; if for this long no scan shows fewer processes than before, the rest cannot be
 * killed. A guest that lets them become fewer slowly delays only its own sandbox, and no longer than MAX_KILL_MS: the
 * rest then lives on as if the command had left it behind.
 */
enum { MAX_PROCESSES = 8192, STALL_MS = 5000, MAX_KILL_MS = 30000, MIN_PAUSE_US = 500, SCANS_WITHOUT_ANY = 3 };

struct process {
  pid_t pid, parent;
  char state;
  long threads;
  bool is_ours;
};

static struct process processes[MAX_PROCESSES];

/* Linux lists them sorted, gVisor does not. */
static int by_pid(const void *a, const void *b) { return ((const struct process *)a)->pid - ((const struct process *)b)->pid; }

static int read_processes(void) {
  int count = 0;
  DIR *proc = opendir("/proc");
  if (!proc) return 0;
  for (struct dirent *entry; count < MAX_PROCESSES && (entry = readdir(proc));) {
    char path[300], text[512], *end;
    struct process p = {.pid = (pid_t)strtol(entry->d_name, &end, 10)};
    if (*end || p.pid <= 1) continue;
    snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close_fd(&fd);
    if (length <= 0) continue;
    text[length] = 0;
    /* The name in brackets is the program's own choice and may hold any byte. */
    char *after_name = strrchr(text, ')');
    static const char FIELDS[] = " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld";
    if (after_name && sscanf(after_name + 1, FIELDS, &p.state, &p.parent, &p.threads) >= 2) processes[count++] = p;
  }
  closedir(proc);
  qsort(processes, (size_t)count, sizeof *processes, by_pid);
  return count;
}

static bool is_ours(pid_t pid, int count) {
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (processes[middle].pid < pid) low = middle + 1;
    else high = middle;
  }
  return low < count && processes[low].pid == pid && processes[low].is_ours;
}

/* Scans all processes and marks the descendants of this stream's command. */
static int find_ours(const struct stream *s) {
  int count = read_processes();
  for (int i = 0; i < count; i++) processes[i].is_ours = is_of_family(processes[i].pid, s->pid) && processes[i].pid != s->pid;
  for (bool grew = true; grew;) {
    grew = false;
    for (int i = 0; i < count; i++) {
      struct process *p = &processes[i];
      if (p->is_ours || !(p->parent == s->pid || is_ours(p->parent, count))) continue;
      p->is_ours = grew = true;
    }
  }
  return count;
}

static bool is_stopped(const struct process *p) { return p->state == 'T' || p->state == 't'; }
/* The state is that of the first thread: when it has ended, the others may live on without it. */
static bool is_living(const struct process *p) { return p->state != 'X' && (p->state != 'Z' || p->threads > 1); }

/*
 * Stops every process in the sandbox for a moment, the keeper too: then none can fork, orphans still become the
 * keeper's, and each scan shows fewer. Without that, a process that only forks and exits is never seen. The others are
 * continued afterwards; a process that was stopped before stays stopped.
 *
 * gVisor stops processes one after the other and misses those born meanwhile. So all are stopped again before each
 * scan, and one scan without a find is not enough.
 */
void kill_tree(struct stream *s) {
  static pid_t sleepers[MAX_PROCESSES];
  int sleeper_count = 0, count = read_processes();
  for (int i = 0; i < count; i++)
    if (is_stopped(&processes[i])) sleepers[sleeper_count++] = processes[i].pid;

  bool is_first = getpid() == 1;
  int64_t last_ms = now_ms() + MAX_KILL_MS, give_up_ms = now_ms() + STALL_MS;
  int fewest = MAX_PROCESSES + 1, without_any = 0;
  while (without_any < SCANS_WITHOUT_ANY && now_ms() < give_up_ms) {
    if (is_first) kill(-1, SIGSTOP);
    int left = 0;
    bool is_keeper_loose = false;
    int64_t began_ms = now_ms();
    count = find_ours(s);
    for (int i = 0; i < count; i++) {
      const struct process *p = &processes[i];
      if (p->is_ours && is_living(p)) left += kill(p->pid, SIGKILL) == 0;
      /*
       * A keeper that is not stopped yet may be about to start its command. Where marks identify its family, it is not
       * needed.
       */
      if (p->pid == s->pid && is_living(p) && !is_stopped(p)) is_keeper_loose = !has_marks() || kill(p->pid, SIGKILL) == 0;
    }
    /* If this is not pid 1, it stops only the keeper, and last: until then the keeper reaps killed processes. */
    if (is_keeper_loose && !is_first && left == 0) kill(s->pid, SIGSTOP);
    left += is_keeper_loose;
    if (left < fewest) {
      fewest = left;
      give_up_ms = now_ms() + STALL_MS < last_ms ? now_ms() + STALL_MS : last_ms;
    }
    without_any = left > 0 ? 0 : without_any + 1;
    /* A killed process needs the processor to exit: yields as long as the scan took. */
    if (left > 0) usleep(MIN_PAUSE_US + (useconds_t)(now_ms() - began_ms) * 1000);
  }
  /* The keeper may not have started its command yet, and must not start it now. */
  kill(s->pid, SIGKILL);
  if (!is_first) return;
  for (int i = 0, k = 0; i < count; i++) {
    while (k < sleeper_count && sleepers[k] < processes[i].pid) k++;
    bool was_asleep = k < sleeper_count && sleepers[k] == processes[i].pid;
    if (!processes[i].is_ours && !was_asleep && processes[i].pid != s->pid) kill(processes[i].pid, SIGCONT);
  }
}
