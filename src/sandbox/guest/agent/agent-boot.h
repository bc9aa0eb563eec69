/* Shared by the two halves of booting a machine. `stop` prints the reason on the console and ends the machine. */
#ifndef WORKCELL_AGENT_BOOT_H
#define WORKCELL_AGENT_BOOT_H

#include "mounts-and-rights.h"

void write_file(const char *path, const char *text);

/* Turns a root on /new into the environment of commands; this process keeps its rights, its children have fewer. */
void enter_place(void);

/* From now on programs hold at most so many MiB, beside the files on that disk. */
void watch_memory(const char *limit_mib, const char *disk_path);

#endif
