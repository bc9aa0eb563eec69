/* The contents of a sandbox's environment, and the rights of its processes: see mounts-and-rights.c. */
#ifndef WORKCELL_PLACE_H
#define WORKCELL_PLACE_H

#include <stdint.h>
#include <sys/types.h>

/* Provided by the caller: each succeeds, or prints the reason and exits. */
__attribute__((format(printf, 1, 2))) _Noreturn void stop(const char *what, ...);
void attach(const char *source, const char *target, const char *type, unsigned long flags, const char *options);
void make_directory(const char *path, mode_t mode);

/* Makes a few devices in a read-only directory; `make_node` makes one by its name. */
void make_devices(const char *dev, void (*make_node)(const char *dev, const char *name));
/*
 * Makes the files of a mounted proc that change the kernel read-only, and mounts the device `null` over those that show
 * it.
 */
void close_proc(const char *proc, const char *null);
/*
 * Moves a mount onto a directory of a root. Any other entry of that name in the image is removed, and never followed.
 */
void move_into(int root, const char *name, const char *from);
/* Makes /tmp and /etc/hosts in the root of this process. */
void furnish_root(void);
void raise_loopback(void);
/* Limits the rights of all child processes, for ever. Returns the remaining capabilities. */
uint64_t bound_rights(void);

#endif
