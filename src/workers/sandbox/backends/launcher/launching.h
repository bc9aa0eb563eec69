/*
 * What the launchers of the backends do alike: see launching.c.
 */
#ifndef LAUNCHING_H
#define LAUNCHING_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "../../../../sandbox/guest/agent/mounts-and-rights.h"

/* As in the kernel's headers, which not every C library has. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { CHANNEL = 3, MAX_CGROUPS = 8 };

/* What the daemon says about the place; a launcher has further words of its own. */
struct given {
  const char *root, *agent, *hostname, *cgroups[MAX_CGROUPS];
  int cgroup_count;
  unsigned long disk_mb, first_id;
  /* 0: a control group holds the sandbox. */
  unsigned long watch_mb;
  /* The guest's memory is in files of a kernel that is a program. */
  bool is_kernel;
};

extern struct given given;

/* Whether the word was one of those above. */
bool take_argument(const char *name, const char *value);

/* Runs `be_inside` as process 1 of new namespaces, waits for it, and ends as it did. */
_Noreturn void launch(void (*be_inside)(int image));

/* First of all inside: own mounts, and the root, at /tmp/root. Returns a descriptor of it. */
int make_root(int image);

/* A copy in memory. To be made outside: inside, the files of the daemon are those of a stranger. */
int copy_agent(void);

/* The host's device of that name, in a directory. */
void make_node(const char *directory, const char *name);
/* Into a directory that nothing of the old root is seen from. */
void pivot_into(int root);
void limit(int resource, rlim_t value);

#endif
