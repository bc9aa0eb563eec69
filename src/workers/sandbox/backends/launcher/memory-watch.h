/* The memory of a sandbox that no control group counts: see memory-watch.c. */
#ifndef MEMORY_WATCH_H
#define MEMORY_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Must be opened in the sandbox: it lists the sockets of the network in which it was opened. */
int open_socket_list(void);

/*
 * Memory in bytes of process `first` and all its descendants; exact only above `limit`. `is_kernel`: the guest's memory
 * is in files that a kernel such as gVisor's has open. UINT64_MAX: too much to be counted.
 */
uint64_t used_bytes(pid_t first, int socket_list, bool is_kernel, uint64_t limit);

#endif
