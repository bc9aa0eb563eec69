/*
 * Identifies descendants of a command on a kernel without child subreapers: gVisor of Debian 12.
 *
 * A process cannot hide its limits, passes them to its children and cannot raise them. So RLIMIT_MEMLOCK, which nothing
 * in a sandbox needs, holds a number that identifies the family. An orphan that lowers it on purpose is not found any
 * more: it lives on as if its command had ended and left it behind.
 */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/resource.h>

#include "agent-loop.h"

static bool is_marking;
static rlim_t unmarked;

static bool limit_of(pid_t pid, struct rlimit *found) { return prlimit(pid, RLIMIT_MEMLOCK, NULL, found) == 0; }

void use_marks(void) {
  int value;
  struct rlimit own;
  if (prctl(PR_GET_CHILD_SUBREAPER, &value) == 0 || !limit_of(0, &own)) return;
  is_marking = true;
  unmarked = own.rlim_max;
}

bool has_marks(void) { return is_marking; }

void mark_family(pid_t keeper) {
  struct rlimit own;
  if (!is_marking || !limit_of(0, &own)) return;
  own.rlim_max = unmarked - (rlim_t)keeper;
  setrlimit(RLIMIT_MEMLOCK, &own);
}

bool is_of_family(pid_t pid, pid_t keeper) {
  struct rlimit found;
  return is_marking && limit_of(pid, &found) && found.rlim_max == unmarked - (rlim_t)keeper;
}
