/*
 * Requests and the children that work on them: carries bytes between their pipes and the channel.
 *
 * Neither side sends more than it has credit for, so a child that reads nothing blocks no other.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent-loop.h"

enum { FILE_PIPE_BYTES = 1024 * 1024 };
/* How long the output of an ended command is still read: it may have left it to another process. */
enum { DRAIN_MS = 100 };
/* How a command ended, beside its exit code. */
enum { CUT_STDOUT = 1, CUT_STDERR = 2, KILLED = 4, SIGNALLED = 8 };

struct stream streams[MAX_STREAMS];
/*
 * Outputs of ended commands that other processes still have open: read and dropped, so that a server that writes to
 * them keeps running.
 */
static int drains[MAX_DRAINS];
static int drain_count;
static uint8_t scratch[65536];

struct stream *stream_of(uint32_t id) {
  for (int i = 0; i < MAX_STREAMS; i++)
    if (streams[i].id == id) return &streams[i];
  return NULL;
}

/* A free slot, if any. */
struct stream *open_stream(uint32_t id, int first, int count) {
  for (struct stream *s = streams + first; s < streams + first + count; s++) {
    if (s->id) continue;
    *s = (struct stream){.id = id, .in = -1, .out = {-1, -1}, .answer_fd = -1, .credit = WINDOW};
    return s;
  }
  return NULL;
}

void close_stream(struct stream *s) {
  close_fd(&s->in);
  close_fd(&s->out[0]);
  close_fd(&s->out[1]);
  close_fd(&s->answer_fd);
  free(s->request.at);
  free(s->waiting.at);
  s->id = 0;
}

void append(struct bytes *to, const void *from, size_t length) {
  if (length == 0) return;
  to->at = realloc(to->at, to->length + length);
  if (!to->at) die("no memory");
  memcpy(to->at + to->length, from, length);
  to->length += length;
}

/* Falls back to /proc/self/fd: gVisor of Debian 12 has no close_range. */
static void close_from(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  DIR *open_fds = opendir("/proc/self/fd");
  if (!open_fds) _exit(1);
  for (struct dirent *entry; (entry = readdir(open_fds));) {
    int fd = atoi(entry->d_name);
    if (fd >= first && fd != dirfd(open_fds)) close(fd);
  }
  closedir(open_fds);
}

static void be_child(struct stream *s, const int fds[4]) {
  is_child = true;
  sigset_t none;
  sigemptyset(&none);
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  /* Moves them up first, so that dup2 overwrites none; `close_from` closes those and the pipes of other streams. */
  int high[4];
  for (int i = 0; i < 4; i++) high[i] = fcntl(fds[i], F_DUPFD, CHILD_ANSWER + 1);
  for (int i = 0; i < 4; i++) dup2(high[i], i);
  fcntl(CHILD_ANSWER, F_SETFD, FD_CLOEXEC);
  close_from(CHILD_ANSWER + 1);

  struct reader r = {s->request.at, s->request.at + s->request.length, false};
  if (s->op == EXEC) run_command(&r);
  else work_on_files(s->op, &r);
  _exit(0);
}

static bool make_pipe(int fds[2], int size) {
  if (pipe2(fds, O_CLOEXEC)) return false;
  if (size) fcntl(fds[0], F_SETPIPE_SZ, size);
  return true;
}

void start_child(struct stream *s) {
  bool is_command = s->op == EXEC;
  int size = is_command ? 0 : FILE_PIPE_BYTES, error = 0;
  int input[2] = {-1, -1}, output[2] = {-1, -1}, errors[2] = {-1, -1}, report[2] = {-1, -1};
  s->keep[0] = s->keep[1] = UINT32_MAX;
  bool has_input = s->op == WRITE;
  uint8_t about = is_command ? ABOUT_PROGRAM : ABOUT_PATH;
  if (is_command && s->request.length >= 17) {
    memcpy(s->keep, s->request.at + 8, 8);
    has_input = s->request.at[16] & HAS_INPUT;
    s->is_terminal = s->request.at[16] & HAS_TERMINAL;
  }

  bool is_ready = make_pipe(report, 0);
  if (s->is_terminal) {
    int sides[3] = {-1, -1, -1};
    if (is_ready && !open_terminal(s, &output[0], sides)) is_ready = false, about = ABOUT_TERMINAL;
    input[0] = sides[0], output[1] = sides[1], errors[1] = sides[2];
    if (is_ready) input[1] = fcntl(output[0], F_DUPFD_CLOEXEC, 0);
  } else {
    is_ready = is_ready && make_pipe(output, size);
    if (has_input) is_ready = is_ready && make_pipe(input, size);
    else input[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (is_command) is_ready = is_ready && make_pipe(errors, 0);
    else errors[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
  }

  pid_t pid = is_ready && input[0] >= 0 && errors[1] >= 0 ? fork() : -1;
  if (pid == 0) be_child(s, (int[]){input[0], output[1], errors[1], report[1]});
  if (pid < 0) error = errno;
  close_fd(&input[0]);
  close_fd(&output[1]);
  close_fd(&errors[1]);
  close_fd(&report[1]);
  s->pid = pid;
  s->in = input[1];
  s->out[0] = output[0];
  s->out[1] = errors[0];
  s->answer_fd = report[0];
  if (pid < 0) {
    send_fail(s->id, (uint32_t)error, about);
    close_stream(s);
    return;
  }
  for (int i = 0; i < 2; i++)
    if (s->out[i] >= 0) fcntl(s->out[i], F_SETFL, O_NONBLOCK);
  if (s->in >= 0) fcntl(s->in, F_SETFL, O_NONBLOCK);
  fcntl(s->answer_fd, F_SETFL, O_NONBLOCK);
  free(s->request.at);
  s->request = (struct bytes){0};
}

/* Returns how many bytes are consumed now. Input without a reader counts as consumed. */
static size_t offer(struct stream *s, const uint8_t *from, size_t length) {
  size_t given = 0;
  while (s->in >= 0 && given < length) {
    size_t run = s->is_terminal ? typed_run(s, from + given, length - given) : length - given;
    if (run == 0) {
      given++;
      continue;
    }
    ssize_t written = write(s->in, from + given, run);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return given;
    if (written < 0) {
      s->is_broken = true;
      close_fd(&s->in);
    } else {
      given += (size_t)written;
    }
  }
  return length;
}

/* Ends the input. A program of the guest may still send on a connection that it has read to the end. */
static void end_input(struct stream *s) {
  if (s->op == OPEN && s->in >= 0) shutdown(s->in, SHUT_WR);
  close_fd(&s->in);
}

/* Gives the host credit for consumed bytes, and the reader its end of file. */
void acknowledge(struct stream *s, size_t given) {
  s->taken += (uint32_t)given;
  if (s->has_all_input && s->waiting.length == 0) end_input(s);
  if (s->has_all_input || (s->taken < WINDOW / 4 && s->waiting.length > 0) || s->taken == 0) return;
  send_frame(s->id, CREDIT, &s->taken, 4);
  s->taken = 0;
}

void feed(struct stream *s) {
  size_t given = offer(s, s->waiting.at, s->waiting.length);
  s->waiting.length -= given;
  if (s->waiting.length) memmove(s->waiting.at, s->waiting.at + given, s->waiting.length);
  acknowledge(s, given);
}

void take_input(struct stream *s, const uint8_t *payload, size_t length) {
  if (s->waiting.length + s->taken + length > WINDOW) die("more input than there was credit for");
  size_t given = s->op && s->waiting.length == 0 ? offer(s, payload, length) : 0;
  append(&s->waiting, payload + given, length - given);
  acknowledge(s, given);
}

/* Carries one piece of output to the host: only one, so that a flood does not delay the others. */
void carry(struct stream *s, int which) {
  bool is_dropped = s->keep[which] == 0;
  size_t room = is_dropped ? sizeof scratch : MAX_FRAME - HEADER;
  if (!is_dropped && room > s->credit) room = s->credit;
  if (!is_dropped && room > s->keep[which]) room = s->keep[which];
  if (room == 0 || (!is_dropped && out_room() < 2 * MAX_FRAME)) return;

  ssize_t length = read(s->out[which], is_dropped ? scratch : out + out_end + HEADER, room);
  s->is_empty = length < 0 && errno == EAGAIN;
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length <= 0) {
    /* The end of a terminal, when no process has it open any more, is EIO. */
    if (length < 0) s->is_broken = !s->is_terminal;
    else if (s->op == OPEN) send_frame(s->id, END, NULL, 0);
    return close_fd(&s->out[which]);
  }

  s->owed[which] -= length < s->owed[which] ? (int)length : s->owed[which];
  if (is_dropped) {
    s->flags |= which ? CUT_STDERR : CUT_STDOUT;
    return;
  }
  put_header(s->id, which ? DATA_ERR : DATA, (size_t)length);
  s->credit -= (uint32_t)length;
  if (s->keep[which] != UINT32_MAX) s->keep[which] -= (uint32_t)length;
}

/* Takes the report of a start, which comes before the answer of a followed command. */
static void take_start(struct stream *s) {
  if (s->op != EXEC || s->answer_length < 9 || s->answer[4] != ABOUT_START) return;
  uint32_t command;
  memcpy(&command, s->answer + 5, 4);
  s->command = (pid_t)command;
  send_frame(s->id, STARTED, &command, 4);
  s->answer_length -= 9;
  memmove(s->answer, s->answer + 9, s->answer_length);
}

static void read_answer(struct stream *s) {
  for (;;) {
    ssize_t length = read(s->answer_fd, s->answer + s->answer_length, MAX_ANSWER - s->answer_length);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (length > 0) s->answer_length += (size_t)length;
    take_start(s);
    if (length <= 0 || s->answer_length == MAX_ANSWER) break;
  }
  close_fd(&s->answer_fd);
  s->drained_at_ms = now_ms() + DRAIN_MS;
  /* All that the command itself wrote is in the pipes by now. */
  for (int i = 0; i < 2; i++)
    if (s->out[i] >= 0) ioctl(s->out[i], FIONREAD, &s->owed[i]);
}

/* Keeps reading an output that another process still has open, so that SIGPIPE does not kill it. */
static void leave_drain(int *fd) {
  if (*fd < 0 || drain_count == MAX_DRAINS) return;
  drains[drain_count++] = *fd;
  *fd = -1;
}

static void finish(struct stream *s) {
  uint32_t error = EIO;
  bool is_answered = s->answer_length >= 5;
  if (is_answered) memcpy(&error, s->answer, 4);
  if (error == ENOMEM) make_room();
  if (s->op == EXEC && (!is_answered || error == 0)) {
    /* A killed keeper cannot report; its command was killed too or has been released. */
    uint8_t payload[2] = {is_answered && s->answer_length > 5 ? s->answer[5] : 128 + SIGKILL, s->flags};
    if (s->answer_length > 6 && s->answer[6]) payload[1] |= SIGNALLED;
    if (s->is_cancelled) payload[1] |= KILLED;
    send_frame(s->id, DONE, payload, 2);
    if (s->pid > 0) kill(s->pid, SIGKILL);
    leave_drain(&s->out[0]);
    leave_drain(&s->out[1]);
  } else if (is_answered && error == 0) {
    send_frame(s->id, DONE, s->answer + 5, s->answer_length - 5);
  } else {
    send_fail(s->id, s->is_cancelled ? ECANCELED : error, is_answered ? s->answer[4] : ABOUT_PATH);
  }
  close_stream(s);
}

void reap(void) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    for (int i = 0; i < MAX_STREAMS; i++) {
      if (!streams[i].id || streams[i].pid != pid) continue;
      streams[i].pid = 0;
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) make_room();
    }
}

/* Whether all output of an ended command itself has been sent. */
static bool is_carried(const struct stream *s) { return s->is_terminal ? s->is_empty : s->owed[0] + s->owed[1] == 0; }

void serve_stream(struct stream *s) {
  if (s->op == 0) return;
  if (s->waiting.length) feed(s);
  if (s->answer_fd >= 0) read_answer(s);
  s->is_empty = false;
  for (int i = 0; i < 2; i++)
    if (s->out[i] >= 0) carry(s, i);
  if (s->answer_fd >= 0) return;

  bool is_drained = s->out[0] < 0 && s->out[1] < 0;
  bool is_left_to_others = s->op == EXEC && is_carried(s) && now_ms() >= s->drained_at_ms;
  if (is_drained || is_left_to_others) finish(s);
}

/* When a stream needs a turn without an event on its descriptors; -1: never. */
int64_t due_in_ms(const struct stream *s, int64_t now) {
  if (s->op != EXEC || s->drained_at_ms == 0) return -1;
  if (s->drained_at_ms > now) return s->is_terminal || is_carried(s) ? s->drained_at_ms - now : -1;
  /* The next read of a terminal may find nothing, which no event reports. */
  bool can_carry = s->keep[0] == 0 || (s->credit && out_room() >= 2 * MAX_FRAME);
  return is_carried(s) || (s->is_terminal && can_carry) ? 0 : -1;
}

void wait_on_drains(void) {
  for (int i = 0; i < drain_count; i++) wait_on(drains[i], POLLIN);
}

void serve_drains(void) {
  for (int i = drain_count - 1; i >= 0; i--) {
    ssize_t length = read(drains[i], scratch, sizeof scratch);
    if (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR))) continue;
    close(drains[i]);
    drains[i] = drains[--drain_count];
  }
}
