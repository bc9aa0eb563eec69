/*
 * Parses a request, and writes the answer of a child.
 *
 * A request that is too short sets `is_broken`, and ends the child that works on it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

bool is_child;

/* A child cannot work without its request; the agent itself checks `is_broken`. */
static void break_off(struct reader *r) {
  r->is_broken = true;
  if (!is_child) return;
  answer(EBADMSG, ABOUT_PATH, NULL, 0);
  _exit(0);
}

uint64_t take(struct reader *r, size_t bytes) {
  uint64_t value = 0;
  if ((size_t)(r->end - r->at) >= bytes) {
    memcpy(&value, r->at, bytes);
    r->at += bytes;
  } else {
    break_off(r);
  }
  return value;
}

char *take_text(struct reader *r) {
  char *text = (char *)r->at;
  size_t left = (size_t)(r->end - r->at), length = left ? strnlen(text, left) : 0;
  if (length < left) {
    r->at += length + 1;
    return text;
  }
  break_off(r);
  return (char *)"";
}

void write_all(int fd, const void *from, size_t length) {
  for (const uint8_t *at = from; length;) {
    ssize_t written = write(fd, at, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(1); /* the reader is gone */
    at += written;
    length -= (size_t)written;
  }
}

void answer(uint32_t error, uint8_t about, const void *payload, size_t length) {
  uint8_t start[5];
  memcpy(start, &error, 4);
  start[4] = about;
  write_all(CHILD_ANSWER, start, 5);
  if (length) write_all(CHILD_ANSWER, payload, length);
}
