/*
 * Queues frames to the host.
 *
 * Outgoing frames wait in one buffer. Work whose frame might not fit is not started, so a frame always fits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent-loop.h"

uint8_t out[OUT_CAPACITY];
size_t out_start, out_end;

/* The loop reads neither the channel nor a pipe unless this much fits, so a frame always does. */
size_t out_room(void) {
  if (out_start == out_end) out_start = out_end = 0;
  if (out_start > 0 && OUT_CAPACITY - out_end < 2 * MAX_FRAME) {
    memmove(out, out + out_start, out_end - out_start);
    out_end -= out_start;
    out_start = 0;
  }
  return OUT_CAPACITY - out_end;
}

void put_header(uint32_t id, uint8_t op, size_t payload) {
  uint32_t length = (uint32_t)payload + HEADER - 4;
  memcpy(out + out_end, &length, 4);
  memcpy(out + out_end + 4, &id, 4);
  out[out_end + 8] = op;
  out_end += HEADER + payload;
}

void send_frame(uint32_t id, uint8_t op, const void *payload, size_t length) {
  if (out_room() < HEADER + length) die("the host does not read");
  if (length) memcpy(out + out_end + HEADER, payload, length);
  put_header(id, op, length);
}

void send_fail(uint32_t id, uint32_t error, uint8_t about) {
  uint8_t payload[5];
  memcpy(payload, &error, 4);
  payload[4] = about;
  send_frame(id, FAIL, payload, sizeof payload);
}

void send_out(int channel) {
  while (out_start < out_end) {
    ssize_t sent = write(channel, out + out_start, out_end - out_start);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) _exit(0); /* the host is gone, and the sandbox ends with it */
    out_start += (size_t)sent;
  }
}
