/* What the two halves of the agent share: the words of the protocol, reading a request, answering from a child. */
#ifndef WORKCELL_AGENT_H
#define WORKCELL_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HELLO = 1, PART, DATA, END, CREDIT, CANCEL, DONE, FAIL, DATA_ERR };
enum { EXEC = 16, LIST = 32, STAT, READ, WRITE, MKDIR, REMOVE, CHMOD, RENAME, WALK, READ_MANY };
enum { SEED = 48, CLOCK, HOSTNAME };

/* What an errno is about. */
enum { ABOUT_PATH, ABOUT_PROGRAM, ABOUT_WORKDIR, ABOUT_PARENT, ABOUT_USER, ABOUT_SOURCE };

/* In every child: its standard input and outputs, and where it leaves its answer. */
enum { CHILD_IN, CHILD_OUT, CHILD_ERR, CHILD_ANSWER };

/* An owner or a mode that is not to be changed. */
#define UNSAID 0xffffffffu

/* The rest of a request. What it holds less of than it should reads as nothing and is remembered. */
struct reader {
  const uint8_t *at, *end;
  bool is_broken;
};

uint64_t take(struct reader *r, size_t bytes);
char *take_text(struct reader *r);

/* For children: all of it, or the child ends because nobody wants it any more. */
void write_all(int fd, const void *from, size_t length);
void answer(uint32_t error, uint8_t about, const void *payload, size_t length);

void work_on_files(uint8_t op, struct reader *r);

#endif
