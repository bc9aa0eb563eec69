/* What a sandbox holds, where no control group counts it: see memory-watch.c. */
#ifndef MEMORY_WATCH_H
#define MEMORY_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* To be opened in the sandbox: it lists the sockets of the network that it was opened in. */
int open_socket_list(void);

/*
 * Bytes held by all that came from process `first`; exact only where it is more than `limit`. `is_kernel`: the guest's memory is
 * files that a kernel which is a program holds open. UINT64_MAX: too much to be counted.
 */
uint64_t held_bytes(pid_t first, int socket_list, bool is_kernel, uint64_t limit);

#endif
