/* Shared by all parts of the agent: the constants of the protocol, parsing a request, answering from a child. */
#ifndef WORKCELL_AGENT_H
#define WORKCELL_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HELLO = 1, PART, DATA, END, CREDIT, CANCEL, DONE, FAIL, DATA_ERR, OPEN, STARTED };
enum { EXEC = 16, LIST = 32, STAT, READ, WRITE, MKDIR, REMOVE, CHMOD, RENAME, WALK, READ_MANY };
enum { SEED = 48, CLOCK, HOSTNAME, LISTEN, RESIZE, SIGNAL };

/* Flags of an EXEC: it has input; it has a terminal instead of pipes; its start is reported, and it may get signals. */
enum { HAS_INPUT = 1, HAS_TERMINAL = 2, IS_FOLLOWED = 4 };

/* Subject of an errno. */
enum { ABOUT_PATH, ABOUT_PROGRAM, ABOUT_WORKDIR, ABOUT_PARENT, ABOUT_USER, ABOUT_SOURCE, ABOUT_TERMINAL };
/* Not an errno: a keeper reports the pid of its command, before the answer. */
enum { ABOUT_START = 255 };

/* Descriptors of every child: its standard input and outputs, and the one for its answer. */
enum { CHILD_IN, CHILD_OUT, CHILD_ERR, CHILD_ANSWER };

/* Streams of this half of the numbers are opened by the guest. */
#define GUEST_STREAM 0x80000000u

/* Stands for an owner or a mode that is not to be changed. */
#define UNSAID 0xffffffffu

/* The rest of a request. A read beyond its end sets `is_broken`, and exits in a child. */
struct reader {
  const uint8_t *at, *end;
  bool is_broken;
};

uint64_t take(struct reader *r, size_t bytes);
char *take_text(struct reader *r);

void close_fd(int *fd);

/* Called in children: writes all of it, or exits because the reader is gone. */
void write_all(int fd, const void *from, size_t length);
void answer(uint32_t error, uint8_t about, const void *payload, size_t length);

/* Set in every child, which exits if its request is broken: it cannot report that otherwise. */
extern bool is_child;

void run_command(struct reader *r);
void work_on_files(uint8_t op, struct reader *r);

/* For the first process of a virtual machine: makes its root and returns the channel. Ends the machine if it cannot. */
int boot_machine(void);

/* On a kernel without child subreapers: members of a keeper's family are identified by a mark instead. */
void use_marks(void);
void mark_family(pid_t keeper);
bool has_marks(void);
bool is_of_family(pid_t pid, pid_t keeper);

/* Whether terminals of this kernel turn keys and new sizes into signals; in gVisor the agent and the keeper do that. */
bool has_terminal_signals(void);
/*
 * For a keeper: becomes the session leader of the terminal, and forwards signals that the agent queues to its
 * foreground group.
 */
bool lead_session(void);
/* Called in the child, before its program: enters a group of its own in the foreground. */
bool enter_foreground(void);

/* Called by the first process of a gVisor sandbox: removes its file and reserves memory beyond the sandbox's size. */
void settle_in_gvisor(const char *own_file, const char *reserved_mib);
/*
 * When gVisor is out of memory: kills all commands. False if memory is not the cause, or after too many retries in a
 * row.
 */
bool make_room(void);
/* Called by the loop after each round: resets the count of retries. */
void note_progress(void);

#endif
