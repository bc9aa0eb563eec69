/*
 * The network access of a guest that has no network: programs connect to a port of its loopback, and every connection
 * becomes a stream to the host, which alone decides its destination.
 *
 * The guest ends a stream by DONE or FAIL, the host by END or CANCEL; only then is the slot free again. So however fast
 * programs connect, the host never gets more connections than there are slots.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent-loop.h"

enum { BACKLOG = 128 };

struct listener {
  int fd;
  uint16_t port;
};

static struct listener listeners[MAX_LISTENERS];
static int listener_count;
static uint32_t last_id = GUEST_STREAM;

static int listen_on(uint16_t port) {
  struct sockaddr_in loopback = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (!bind(fd, (struct sockaddr *)&loopback, sizeof loopback) && !listen(fd, BACKLOG)) return fd;
  int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

void listen_for(uint32_t id, struct reader *r) {
  uint16_t port = (uint16_t)take(r, 2);
  if (r->is_broken) return send_fail(id, EBADMSG, ABOUT_PATH);
  if (listener_count == MAX_LISTENERS) return send_fail(id, EMFILE, ABOUT_PATH);
  int fd = listen_on(port);
  if (fd < 0) return send_fail(id, (uint32_t)errno, ABOUT_PATH);
  listeners[listener_count++] = (struct listener){fd, port};
  send_frame(id, DONE, NULL, 0);
}

void stop_listening(void) {
  while (listener_count > 0) close(listeners[--listener_count].fd);
}

/* The frame that announces a new connection has to fit too. */
static bool has_place(void) {
  if (out_room() < 2 * MAX_FRAME) return false;
  for (int i = MAX_REQUESTS; i < MAX_STREAMS; i++)
    if (!streams[i].id) return true;
  return false;
}

/* One end for each direction, so that one can be closed before the other. */
static void open_connection(int fd, uint16_t port) {
  do last_id = last_id == UINT32_MAX ? GUEST_STREAM : last_id + 1;
  while (stream_of(last_id));
  struct stream *s = open_stream(last_id, MAX_REQUESTS, MAX_CONNECTIONS);
  s->op = OPEN;
  s->keep[0] = s->keep[1] = UINT32_MAX;
  s->in = fd;
  s->out[0] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (s->out[0] < 0) return close_stream(s);
  send_frame(s->id, OPEN, &port, 2);
}

void accept_connections(void) {
  for (int i = 0; i < listener_count; i++) {
    while (has_place()) {
      int fd = accept4(listeners[i].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) break;
      open_connection(fd, listeners[i].port);
    }
  }
}

/* Connections beyond the slots wait in the kernel's queue. */
void wait_on_listeners(void) {
  if (!has_place()) return;
  for (int i = 0; i < listener_count; i++) wait_on(listeners[i].fd, POLLIN);
}

/* Resets the connection: the program must not see an end of file. */
static void reset(struct stream *s) {
  struct linger at_once = {1, 0};
  int fd = s->in >= 0 ? s->in : s->out[0];
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close_fd(&s->in);
  close_fd(&s->out[0]);
}

void serve_connection(struct stream *s) {
  if (!s->is_over) {
    if (s->waiting.length) feed(s);
    if (s->out[0] >= 0) carry(s, 0);
    /* The host has sent everything and reads no more: its bytes are still delivered. */
    bool is_left = s->is_cancelled && s->has_all_input;
    if (is_left) close_fd(&s->out[0]);
    if ((s->is_cancelled && !is_left) || s->is_broken) {
      reset(s);
      s->is_over = true;
      send_fail(s->id, s->is_cancelled ? ECANCELED : ECONNRESET, ABOUT_PATH);
    } else if (s->in < 0 && s->out[0] < 0) {
      s->is_over = true;
      send_frame(s->id, DONE, NULL, 0);
    }
  }
  if (s->is_over && (s->has_all_input || s->is_cancelled)) close_stream(s);
}
