/*
 * The agent: the first process of every sandbox. It runs commands and works on files for the host, over one byte
 * stream.
 *
 * Every piece of work is a child process, connected by pipes: a command under its keeper, or a fork that does file work
 * with plain blocking calls. The loop below only carries bytes between those pipes and the channel, so no command can
 * block another. The frames are described in docs/design/guest-protocol.md.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent-loop.h"

/* The two ends of the channel; the same descriptor if it is a socket. */
static int channel_in, channel_out;
static uint8_t in[MAX_FRAME + 65536];
static size_t in_length;

int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void die(const char *why) {
  dprintf(2, "agent: %s\n", why);
  _exit(1);
}

void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* ---- frames from the host ---- */

static void cancel(struct stream *s) {
  if (s->is_cancelled || s->op == 0) return;
  s->is_cancelled = true;
  if (s->pid > 0 && s->op == EXEC) kill_tree(s);
  /* SIGTERM lets a child that writes a file remove its draft; an end of input would complete the file. */
  else if (s->pid > 0) kill(s->pid, SIGTERM);
}

/* Handles HELLO, which comes from a new host: kills processes that the host before it left running. */
static void greet(void) {
  for (int i = 0; i < MAX_STREAMS; i++) {
    struct stream *s = &streams[i];
    if (!s->id) continue;
    if (s->pid > 0) kill_tree(s);
    close_stream(s);
  }
  stop_listening();
  uint32_t facts[3] = {VERSION, MAX_FRAME, WINDOW};
  send_frame(0, HELLO, facts, sizeof facts);
}

static void take_part(struct stream *s, uint32_t id, const uint8_t *payload, size_t length) {
  if (s && s->op) die("a part of a request that has begun");
  if (!s) s = open_stream(id, 0, MAX_REQUESTS);
  if (!s) return send_fail(id, EAGAIN, ABOUT_PATH);
  if (s->request.length + length <= MAX_REQUEST) append(&s->request, payload, length);
  else s->request.length = MAX_REQUEST + 1;
}

static void begin(struct stream *s, uint32_t id, uint8_t op, const uint8_t *payload, size_t length) {
  if (s && s->op) die("two requests on one stream");
  struct reader r = {payload, payload + length, false};
  bool is_work = op == EXEC || (op >= LIST && op <= READ_MANY);
  if (!is_work && s) close_stream(s);
  if (op == SEED) return add_entropy(id, &r);
  if (op == CLOCK) return set_clock(id, &r);
  if (op == HOSTNAME) return set_hostname(id, &r);
  if (op == LISTEN) return listen_for(id, &r);
  if (!is_work) return send_fail(id, ENOSYS, ABOUT_PATH);

  take_part(s, id, payload, length);
  s = stream_of(id);
  if (!s) return;
  s->op = op;
  if (s->request.length <= MAX_REQUEST) return start_child(s);
  send_fail(id, E2BIG, op == EXEC ? ABOUT_PROGRAM : ABOUT_PATH);
  close_stream(s);
}

/* Ignores a frame for an ended stream: the host sent it before it got the last frame. */
static void take_frame(uint32_t id, uint8_t op, const uint8_t *payload, size_t length) {
  struct stream *s = id ? stream_of(id) : NULL;
  if (op == HELLO) return greet();
  if (id == 0 || (!s && id & GUEST_STREAM) || (s && s->is_over && op != END && op != CANCEL)) return;
  if (op == PART) return take_part(s, id, payload, length);
  if (op == DATA) {
    if (s && !s->is_cancelled && !s->has_all_input) take_input(s, payload, length);
    return;
  }
  if (op == END) {
    if (!s) return;
    s->has_all_input = true;
    return acknowledge(s, 0);
  }
  if (op == CREDIT) {
    struct reader r = {payload, payload + length, false};
    uint32_t more = (uint32_t)take(&r, 4);
    if (s) s->credit = more > UINT32_MAX - s->credit ? UINT32_MAX : s->credit + more;
    return;
  }
  if (op == CANCEL) {
    if (s) cancel(s);
    return;
  }
  if (op == RESIZE || op == SIGNAL) {
    struct reader r = {payload, payload + length, false};
    if (s && op == RESIZE) resize_terminal(s, &r);
    else if (s) signal_command(s, &r);
    return;
  }
  begin(s, id, op, payload, length);
}

/* Handles the received frames, one at a time if the output is nearly full, because each may need an answer. */
static void take_frames(void) {
  size_t at = 0;
  while (in_length - at >= HEADER && out_room() >= MAX_FRAME) {
    uint32_t length, id;
    memcpy(&length, in + at, 4);
    memcpy(&id, in + at + 4, 4);
    if (length < HEADER - 4 || length > MAX_FRAME - 4) die("a frame of an impossible length");
    if (in_length - at < length + 4) break;
    take_frame(id, in[at + 8], in + at + HEADER, length - (HEADER - 4));
    at += length + 4;
  }
  in_length -= at;
  memmove(in, in + at, in_length);
}

/* ---- the loop ---- */

static struct pollfd polled[2 + MAX_STREAMS * 4 + MAX_DRAINS + MAX_LISTENERS];
static nfds_t polled_count;

void wait_on(int fd, short events) {
  if (fd >= 0) polled[polled_count++] = (struct pollfd){fd, events, 0};
}

/* A full input buffer contains a whole frame, which waits only for room in the output. */
static bool can_read(void) { return out_room() >= 2 * MAX_FRAME && in_length < sizeof in; }

static void wait_on_stream(const struct stream *s, bool has_room) {
  if (s->waiting.length) wait_on(s->in, POLLOUT);
  for (int k = 0; k < 2; k++)
    if (s->keep[k] == 0 || (s->credit && has_room)) wait_on(s->out[k], POLLIN);
  wait_on(s->answer_fd, POLLIN);
}

static void wait_for_work(const sigset_t *mask) {
  bool has_room = out_room() >= 2 * MAX_FRAME;
  bool has_output = out_start < out_end, is_one = channel_in == channel_out;
  polled_count = 0;
  wait_on(channel_in, (short)((can_read() ? POLLIN : 0) | (is_one && has_output ? POLLOUT : 0)));
  if (!is_one && has_output) wait_on(channel_out, POLLOUT);
  int64_t wait_ms = -1, now = now_ms();
  for (int i = 0; i < MAX_STREAMS; i++) {
    if (!streams[i].id) continue;
    wait_on_stream(&streams[i], has_room);
    int64_t due_ms = due_in_ms(&streams[i], now);
    if (due_ms >= 0 && (wait_ms < 0 || due_ms < wait_ms)) wait_ms = due_ms;
  }
  int64_t memory_ms = memory_due_in_ms(now);
  if (memory_ms >= 0 && (wait_ms < 0 || memory_ms < wait_ms)) wait_ms = memory_ms;
  wait_on_drains();
  wait_on_listeners();
  struct timespec timeout = {wait_ms / 1000, wait_ms % 1000 * 1000000};
  ppoll(polled, polled_count, wait_ms < 0 ? NULL : &timeout, mask);
}

static void on_child(int signal) { (void)signal; }

static void open_channel(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--fd")) {
    channel_in = channel_out = atoi(argv[2]);
  } else if (argc <= 3 && argc >= 2 && !strcmp(argv[1], "--io")) {
    /* Moves the channel away from the descriptors that children use. */
    channel_in = fcntl(0, F_DUPFD, CHILD_ANSWER + 1);
    channel_out = fcntl(1, F_DUPFD, CHILD_ANSWER + 1);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) die("no /dev/null");
    if (argc == 3) settle_in_gvisor(argv[0], argv[2]);
  } else if (getpid() == 1) { /* the kernel adds words of its own */
    channel_in = channel_out = boot_machine();
  } else {
    die("say where the channel is: --fd N, or --io [MiB] for standard input and output");
  }
  for (int fd = channel_in;; fd = channel_out) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (fd == channel_out) break;
  }
}

int main(int argc, char **argv) {
  open_channel(argc, argv);
  umask(022);
  prctl(PR_SET_DUMPABLE, 0); /* no process of the guest attaches to this one */

  sigset_t blocked, open_mask;
  sigemptyset(&open_mask);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  sigaction(SIGCHLD, &(struct sigaction){.sa_handler = on_child}, NULL);
  signal(SIGPIPE, SIG_IGN);

  for (;;) {
    wait_for_work(&open_mask);
    if (can_read()) {
      ssize_t length = read(channel_in, in + in_length, sizeof in - in_length);
      if (length < 0 && errno == EFAULT && make_room()) continue;
      if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) _exit(0);
      if (length > 0) in_length += (size_t)length;
    }
    take_frames();
    reap();
    check_memory();
    for (int i = 0; i < MAX_STREAMS; i++) {
      if (!streams[i].id) continue;
      if (streams[i].op == OPEN) serve_connection(&streams[i]);
      else serve_stream(&streams[i]);
    }
    serve_drains();
    accept_connections();
    send_out(channel_out);
    note_progress();
  }
}
