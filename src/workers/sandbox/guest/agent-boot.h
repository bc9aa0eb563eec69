/* What the two halves of booting a machine share: doing things that must not fail. */
#ifndef WORKCELL_AGENT_BOOT_H
#define WORKCELL_AGENT_BOOT_H

#include <sys/types.h>

/* Says why on the console, with the reason of the system, and ends the machine. */
__attribute__((format(printf, 1, 2))) _Noreturn void stop_boot(const char *what, ...);

void attach(const char *source, const char *target, const char *type, unsigned long flags, const char *options);
void make_directory(const char *path, mode_t mode);
void write_file(const char *path, const char *text);

/* From a root on /new to a place that commands can run in; what this process may do is kept, what it starts may less. */
void enter_place(void);

#endif
