/*
 * Shared by the launchers of the backends: see launching.c.
 */
#ifndef LAUNCHING_H
#define LAUNCHING_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "../../../../sandbox/guest/agent/mounts-and-rights.h"

/* Number from the kernel's headers, which not every C library has. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { CHANNEL = 3, MAX_CGROUPS = 8 };

/* Arguments of the daemon about the environment; a launcher has further ones of its own. */
struct given {
  const char *root, *agent, *hostname, *cgroups[MAX_CGROUPS];
  int cgroup_count;
  unsigned long disk_mb, first_id;
  /* 0: a control group limits the sandbox's memory */
  unsigned long watch_mb;
  /* the guest's memory is in files of a kernel that is a program, such as gVisor's */
  bool is_kernel;
};

extern struct given given;

/* Parses an argument; false if it is not one of those above. */
bool take_argument(const char *name, const char *value);

/* Runs `be_inside` as process 1 of new namespaces, waits for it, and ends as it did. */
_Noreturn void launch(void (*be_inside)(int image));

/* The first step inside: makes own mounts, with the root at /tmp/root. Returns a descriptor of the root. */
int make_root(int image);

/* A copy of the agent in memory. Made outside, because the files of the daemon belong to another user inside. */
int copy_agent(void);

/* Makes the host's device of that name in a directory. */
void make_node(const char *directory, const char *name);
/* Makes the directory the root; nothing of the old root is visible from it. */
void pivot_into(int root);
void limit(int resource, rlim_t value);

#endif
