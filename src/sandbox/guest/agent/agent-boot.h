/* What the two halves of booting a machine share. `stop` says why on the console and ends the machine. */
#ifndef WORKCELL_AGENT_BOOT_H
#define WORKCELL_AGENT_BOOT_H

#include "place.h"

void write_file(const char *path, const char *text);

/* From a root on /new to a place that commands can run in; what this process may do is kept, what it starts may less. */
void enter_place(void);

/* From now on programs hold no more than so many MiB, beside the files on that disk. */
void watch_memory(const char *limit_mib, const char *disk_path);

#endif
