/* The ids of a user namespace: every id maps to itself, as far as this user may map it. */
#define _GNU_SOURCE
#include "fence.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAP_BYTES = 4096 };

/* Maps every id of this process's namespace to itself for root, and only the own id for an ordinary user. */
static void map_ids(pid_t pid, const char *name, unsigned id) {
  char path[64], from[MAP_BYTES] = {0}, text[MAP_BYTES * 2];
  unsigned long inside, outside, count;
  int length = 0;
  if (geteuid() == 0) {
    snprintf(path, sizeof path, "/proc/self/%s", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, from, sizeof from - 1) < 0) stop("cannot read %s", path);
    close(fd);
    for (char *line = strtok(from, "\n"); line; line = strtok(NULL, "\n"))
      if (sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3)
        length += snprintf(text + length, sizeof text - (size_t)length, "%lu %lu %lu\n", inside, inside, count);
  } else {
    length = snprintf(text, sizeof text, "%u %u 1", id, id);
  }
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, (size_t)length) != length) stop("cannot write %s", path);
  close(fd);
}

static void forbid_groups(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/setgroups", (int)pid);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, "deny", 4) != 4) stop("cannot write %s", path);
  close(fd);
}

/* The ids are mapped by a process outside of the new namespace: only there root may map all of them. */
void make_user_namespace(void) {
  int ready[2], status;
  pid_t own = getpid();
  if (pipe2(ready, O_CLOEXEC)) stop("cannot make a pipe");
  pid_t helper = fork();
  if (helper < 0) stop("cannot fork");
  if (helper == 0) {
    char byte;
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) _exit(126);
    if (geteuid() != 0) forbid_groups(own);
    map_ids(own, "uid_map", getuid());
    map_ids(own, "gid_map", getgid());
    _exit(0);
  }
  close(ready[0]);
  if (unshare(CLONE_NEWUSER)) stop("cannot make a user namespace");
  if (write(ready[1], "", 1) != 1) stop("cannot start the helper");
  close(ready[1]);
  if (waitpid(helper, &status, 0) != helper || status != 0) _exit(126);
}
