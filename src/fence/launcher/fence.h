/* Shared by the two halves of the launcher: see fence.c. */
#ifndef FENCE_H
#define FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../../sandbox/guest/agent/mounts-and-rights.h"

/* Number from the kernel's headers, which not every C library has. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/* Sources of the mounts that hide a file or a directory. They lie in /dev, which no command can write. */
#define MASK_FILE "/dev/.masked"
#define MASK_DIRECTORY "/dev/.empty"

/* Makes the namespaces that all commands share, reports them, and forwards connections until standard input ends. */
_Noreturn void hold(int argc, char **argv);
/* Runs one command in them. */
_Noreturn void enter(int argc, char **argv);

/* Mounts the layer of a change over the workspace, and keeps it until standard input ends. */
_Noreturn void view(int argc, char **argv);
/* Makes the layer show changes of the workspace below it. */
_Noreturn void refresh(int argc, char **argv);

/* A user namespace for this process that maps every id to itself. */
void make_user_namespace(void);

/* Hides a path: an empty directory covers a directory, a closed socket covers anything else. */
void mask(const char *path);

/* Accepts connections on the loopback address and forwards each to a socket of the server, until standard input ends. */
_Noreturn void relay(const char *socket_path);

#endif
