/*
 * The agent: the first process of every sandbox. It runs commands and works on files for the host, over one byte stream.
 *
 * Every piece of work is a child process, joined by pipes: a command under its keeper, or a fork that does file work with
 * plain blocking calls. The loop below only carries bytes between those pipes and the channel, so nothing that a command
 * does or leaves undone can hold up another one. The frames are described in docs/design/guest-protocol.md.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

enum { VERSION = 1, HEADER = 9, MAX_FRAME = 256 * 1024, WINDOW = 256 * 1024, MAX_REQUEST = 4 * 1024 * 1024 };
enum { MAX_STREAMS = 128, MAX_DRAINS = 64, OUT_CAPACITY = 4 * MAX_FRAME, MAX_ANSWER = 256, FILE_PIPE_BYTES = 1024 * 1024 };
/* A command that ended may have left its output to another; this is how long that one is listened to. */
enum { DRAIN_MS = 100 };
/* Ending a command takes a few looks; what cannot be killed at all is given up. */
enum { MAX_PROCESSES = 8192, HUNT_MS = 1000, LOOK_EVERY_US = 500 };

/* As in linux/random.h, which not every C library has. */
#define ADD_ENTROPY _IOW('R', 3, int[2])
#define RESEED _IO('R', 7)

/* How a command ended, beside its exit code. */
enum { CUT_STDOUT = 1, CUT_STDERR = 2, KILLED = 4 };

struct bytes {
  uint8_t *at;
  size_t length;
};

/* One request of the host, from its first frame to its last. */
struct stream {
  uint32_t id; /* 0: free */
  uint8_t op;  /* 0: its request is still coming in parts */
  struct bytes request;
  pid_t pid; /* the keeper or the fork; 0 once it was reaped */
  int in, out[2], answer_fd;
  struct bytes waiting; /* input that the child did not take yet; at most WINDOW */
  bool has_all_input, is_cancelled;
  uint32_t taken;  /* input that the host was not given credit for yet */
  uint32_t credit; /* how much the host takes */
  uint32_t keep[2];
  uint8_t flags;
  uint8_t answer[MAX_ANSWER];
  size_t answer_length;
  int64_t drained_at_ms; /* 0: it still runs */
  int owed[2];           /* output of an ended command that has still to be carried */
};

/* Two ends of one stream, and the same number where it is a socket. */
static int channel_in, channel_out;
static struct stream streams[MAX_STREAMS];
/* Outputs of commands that ended while others still held them: read and dropped, so that a server lives on. */
static int drains[MAX_DRAINS];
static int drain_count;
static uint8_t in[MAX_FRAME + 65536], out[OUT_CAPACITY], scratch[65536];
static size_t in_length, out_start, out_end;
static bool is_child;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void die(const char *why) {
  dprintf(2, "agent: %s\n", why);
  _exit(1);
}

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* ---- reading a request ---- */

/* A child has nothing to do without its request; the agent itself looks at `is_broken`. */
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

/* ---- sending frames ---- */

/* The loop reads neither the channel nor a pipe unless this much fits, so a frame always does. */
static size_t out_room(void) {
  if (out_start == out_end) out_start = out_end = 0;
  if (out_start > 0 && OUT_CAPACITY - out_end < 2 * MAX_FRAME) {
    memmove(out, out + out_start, out_end - out_start);
    out_end -= out_start;
    out_start = 0;
  }
  return OUT_CAPACITY - out_end;
}

static void put_header(uint32_t id, uint8_t op, size_t payload) {
  uint32_t length = (uint32_t)payload + HEADER - 4;
  memcpy(out + out_end, &length, 4);
  memcpy(out + out_end + 4, &id, 4);
  out[out_end + 8] = op;
  out_end += HEADER + payload;
}

static void send_frame(uint32_t id, uint8_t op, const void *payload, size_t length) {
  if (out_room() < HEADER + length) die("the host does not read");
  if (length) memcpy(out + out_end + HEADER, payload, length);
  put_header(id, op, length);
}

static void send_fail(uint32_t id, uint32_t error, uint8_t about) {
  uint8_t payload[5];
  memcpy(payload, &error, 4);
  payload[4] = about;
  send_frame(id, FAIL, payload, sizeof payload);
}

static void send_out(void) {
  while (out_start < out_end) {
    ssize_t sent = write(channel_out, out + out_start, out_end - out_start);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) _exit(0); /* the host is gone, and this place with it */
    out_start += (size_t)sent;
  }
}

/* ---- the work of a command ---- */

struct command {
  uint32_t uid, gid;
  char *cwd, **argv, **env;
};

/* The first program on the PATH that can be started. Comes back only with the reason why none was. */
static void start_program(const struct command *c) {
  const char *path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  if (strchr(c->argv[0], '/')) {
    execve(c->argv[0], c->argv, c->env);
    return;
  }
  for (char **entry = c->env; *entry; entry++)
    if (!strncmp(*entry, "PATH=", 5)) path = *entry + 5;

  int reason = ENOENT;
  for (; c->argv[0][0]; path++) {
    char file[4096];
    size_t length = strcspn(path, ":");
    int size = snprintf(file, sizeof file, "%.*s/%s", (int)length, length ? path : ".", c->argv[0]);
    if (size > 0 && (size_t)size < sizeof file) execve(file, c->argv, c->env);
    if (errno == EACCES) reason = EACCES;
    else if (errno != ENOENT && errno != ENOTDIR) return;
    path += length;
    if (!*path) break;
  }
  errno = reason;
}

static uint8_t become(const struct command *c) {
  bool has_gid = c->gid != UNSAID && c->gid != getgid(), has_uid = c->uid != UNSAID && c->uid != getuid();
  if ((has_gid || has_uid) && setgroups(0, NULL)) return ABOUT_USER;
  if (has_gid && setgid(c->gid)) return ABOUT_USER;
  if (has_uid && setuid(c->uid)) return ABOUT_USER;
  if (chdir(c->cwd)) return ABOUT_WORKDIR;
  start_program(c);
  return ABOUT_PROGRAM;
}

void write_all(int fd, const void *from, size_t length) {
  for (const uint8_t *at = from; length;) {
    ssize_t written = write(fd, at, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(1); /* nobody wants it any more */
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

/*
 * Stays between the agent and a command. What the command leaves behind becomes the keeper's child and not the agent's,
 * so everything that ever came from a command can be found while it runs. When it ends, its leftovers are set free.
 */
static void keep(const struct command *c) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  /* When memory runs out, commands go before the agent. */
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, "500", 3) < 0) close_fd(&fd);
  close_fd(&fd);

  volatile uint8_t about = 0;
  volatile int failed = 0;
  pid_t pid = vfork();
  if (pid == 0) {
    setsid();
    about = become(c);
    failed = errno;
    _exit(127);
  }
  if (pid < 0) failed = errno, about = ABOUT_PROGRAM;
  if (failed) {
    answer((uint32_t)failed, about, NULL, 0);
    _exit(0);
  }
  for (fd = CHILD_IN; fd <= CHILD_ERR; fd++) close(fd);
  for (;;) {
    int status;
    pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0 && errno == EINTR) continue;
    if (ended != pid && ended > 0) continue;
    uint8_t code = (uint8_t)(ended < 0 ? 255 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    answer(0, 0, &code, 1);
    _exit(0);
  }
}

static void run_command(struct reader *r) {
  struct command c = {.uid = (uint32_t)take(r, 4), .gid = (uint32_t)take(r, 4)};
  take(r, 8), take(r, 1); /* how much output is kept and whether there is input: read by the agent itself */
  size_t argc = take(r, 4), envc = take(r, 4), left = (size_t)(r->end - r->at);
  if (argc == 0 || argc > left || envc > left) return answer(EBADMSG, ABOUT_PROGRAM, NULL, 0);

  c.cwd = take_text(r);
  c.argv = calloc(argc + 1, sizeof(char *));
  c.env = calloc(envc + 1, sizeof(char *));
  if (!c.argv || !c.env) return answer(ENOMEM, ABOUT_PROGRAM, NULL, 0);
  for (size_t i = 0; i < argc; i++) c.argv[i] = take_text(r);
  for (size_t i = 0; i < envc; i++) c.env[i] = take_text(r);
  keep(&c);
}

/* ---- streams ---- */

static struct stream *stream_of(uint32_t id) {
  for (int i = 0; i < MAX_STREAMS; i++)
    if (streams[i].id == id) return &streams[i];
  return NULL;
}

static struct stream *open_stream(uint32_t id) {
  struct stream *s = stream_of(0);
  if (!s) {
    send_fail(id, EAGAIN, ABOUT_PATH);
    return NULL;
  }
  *s = (struct stream){.id = id, .in = -1, .out = {-1, -1}, .answer_fd = -1, .credit = WINDOW};
  return s;
}

static void close_stream(struct stream *s) {
  close_fd(&s->in);
  close_fd(&s->out[0]);
  close_fd(&s->out[1]);
  close_fd(&s->answer_fd);
  free(s->request.at);
  free(s->waiting.at);
  s->id = 0;
}

static void append(struct bytes *to, const void *from, size_t length) {
  if (length == 0) return;
  to->at = realloc(to->at, to->length + length);
  if (!to->at) die("no memory");
  memcpy(to->at + to->length, from, length);
  to->length += length;
}

static void be_child(struct stream *s, const int fds[4]) {
  is_child = true;
  sigset_t none;
  sigemptyset(&none);
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  /* Out of the way of each other first. The ends of others' pipes must not be held here. */
  int high[4];
  for (int i = 0; i < 4; i++) high[i] = fcntl(fds[i], F_DUPFD, CHILD_ANSWER + 1);
  for (int i = 0; i < 4; i++) dup2(high[i], i);
  fcntl(CHILD_ANSWER, F_SETFD, FD_CLOEXEC);
  syscall(SYS_close_range, CHILD_ANSWER + 1, ~0U, 0);

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

static void start_child(struct stream *s) {
  bool is_command = s->op == EXEC;
  int size = is_command ? 0 : FILE_PIPE_BYTES, error = 0;
  int input[2] = {-1, -1}, output[2] = {-1, -1}, errors[2] = {-1, -1}, report[2] = {-1, -1};
  s->keep[0] = s->keep[1] = UINT32_MAX;
  bool has_input = s->op == WRITE;
  if (is_command && s->request.length >= 17) {
    memcpy(s->keep, s->request.at + 8, 8);
    has_input = s->request.at[16];
  }

  bool is_ready = make_pipe(output, size) && make_pipe(report, 0);
  if (has_input) is_ready = is_ready && make_pipe(input, size);
  else input[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (is_command) is_ready = is_ready && make_pipe(errors, 0);
  else errors[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);

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
    send_fail(s->id, (uint32_t)error, is_command ? ABOUT_PROGRAM : ABOUT_PATH);
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

/* How much of it the child takes now. Input that nobody reads any more counts as taken. */
static size_t offer(struct stream *s, const uint8_t *from, size_t length) {
  size_t given = 0;
  while (s->in >= 0 && given < length) {
    ssize_t written = write(s->in, from + given, length - given);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return given;
    if (written < 0) close_fd(&s->in);
    else given += (size_t)written;
  }
  return length;
}

/* Gives the host credit for what was taken, and the child its end of input. */
static void acknowledge(struct stream *s, size_t given) {
  s->taken += (uint32_t)given;
  if (s->has_all_input && s->waiting.length == 0) close_fd(&s->in);
  if (s->has_all_input || (s->taken < WINDOW / 4 && s->waiting.length > 0) || s->taken == 0) return;
  send_frame(s->id, CREDIT, &s->taken, 4);
  s->taken = 0;
}

static void feed(struct stream *s) {
  size_t given = offer(s, s->waiting.at, s->waiting.length);
  s->waiting.length -= given;
  if (s->waiting.length) memmove(s->waiting.at, s->waiting.at + given, s->waiting.length);
  acknowledge(s, given);
}

static void take_input(struct stream *s, const uint8_t *payload, size_t length) {
  if (s->waiting.length + s->taken + length > WINDOW) die("more input than there was credit for");
  size_t given = s->op && s->waiting.length == 0 ? offer(s, payload, length) : 0;
  append(&s->waiting, payload + given, length - given);
  acknowledge(s, given);
}

/* Carries one piece of a child's output to the host: one, so that a flood leaves the others their turn. */
static void carry(struct stream *s, int which) {
  bool is_dropped = s->keep[which] == 0;
  size_t room = is_dropped ? sizeof scratch : MAX_FRAME - HEADER;
  if (!is_dropped && room > s->credit) room = s->credit;
  if (!is_dropped && room > s->keep[which]) room = s->keep[which];
  if (room == 0 || out_room() < 2 * MAX_FRAME) return;

  ssize_t length = read(s->out[which], is_dropped ? scratch : out + out_end + HEADER, room);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length <= 0) return close_fd(&s->out[which]);

  s->owed[which] -= length < s->owed[which] ? (int)length : s->owed[which];
  if (is_dropped) {
    s->flags |= which ? CUT_STDERR : CUT_STDOUT;
    return;
  }
  put_header(s->id, which ? DATA_ERR : DATA, (size_t)length);
  s->credit -= (uint32_t)length;
  if (s->keep[which] != UINT32_MAX) s->keep[which] -= (uint32_t)length;
}

static void read_answer(struct stream *s) {
  for (;;) {
    ssize_t length = read(s->answer_fd, s->answer + s->answer_length, MAX_ANSWER - s->answer_length);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (length > 0) s->answer_length += (size_t)length;
    if (length <= 0 || s->answer_length == MAX_ANSWER) break;
  }
  close_fd(&s->answer_fd);
  s->drained_at_ms = now_ms() + DRAIN_MS;
  /* What the command itself wrote is in the pipes by now. */
  for (int i = 0; i < 2; i++)
    if (s->out[i] >= 0) ioctl(s->out[i], FIONREAD, &s->owed[i]);
}

/* Whoever still holds an output keeps a reader, so that writing to it does not kill him. */
static void leave_drain(int *fd) {
  if (*fd < 0 || drain_count == MAX_DRAINS) return;
  drains[drain_count++] = *fd;
  *fd = -1;
}

static void finish(struct stream *s) {
  uint32_t error = EIO;
  bool is_answered = s->answer_length >= 5;
  if (is_answered) memcpy(&error, s->answer, 4);
  if (s->op == EXEC && (!is_answered || error == 0)) {
    /* A keeper that was killed cannot tell; its command died of the same or is nobody's any more. */
    uint8_t payload[2] = {is_answered && s->answer_length > 5 ? s->answer[5] : 128 + SIGKILL, s->flags};
    if (s->is_cancelled) payload[1] |= KILLED;
    send_frame(s->id, DONE, payload, 2);
    leave_drain(&s->out[0]);
    leave_drain(&s->out[1]);
  } else if (is_answered && error == 0) {
    send_frame(s->id, DONE, s->answer + 5, s->answer_length - 5);
  } else {
    send_fail(s->id, s->is_cancelled ? ECANCELED : error, is_answered ? s->answer[4] : ABOUT_PATH);
  }
  close_stream(s);
}

/* ---- ending a command with all that came from it ---- */

struct process {
  pid_t pid, parent;
  char state;
  bool is_ours;
};

static struct process processes[MAX_PROCESSES];

static int read_processes(void) {
  int count = 0;
  DIR *proc = opendir("/proc");
  if (!proc) return 0;
  for (struct dirent *entry; count < MAX_PROCESSES && (entry = readdir(proc));) {
    char path[300], text[512], *end;
    struct process p = {.pid = (pid_t)strtol(entry->d_name, &end, 10)};
    if (*end || p.pid <= 1) continue;
    snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close_fd(&fd);
    if (length <= 0) continue;
    text[length] = 0;
    /* The name in brackets is the program's own choice and may hold any byte. */
    char *after_name = strrchr(text, ')');
    if (after_name && sscanf(after_name + 1, " %c %d", &p.state, &p.parent) == 2) processes[count++] = p;
  }
  closedir(proc);
  return count;
}

/* The system lists processes by their ids. */
static bool is_ours(pid_t pid, int count) {
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (processes[middle].pid < pid) low = middle + 1;
    else high = middle;
  }
  return low < count && processes[low].pid == pid && processes[low].is_ours;
}

/* Looks at all processes and marks those that came from the command of this stream. */
static int find_ours(const struct stream *s) {
  int count = read_processes();
  for (bool grew = true; grew;) {
    grew = false;
    for (int i = 0; i < count; i++) {
      struct process *p = &processes[i];
      if (p->is_ours || !(p->parent == s->pid || is_ours(p->parent, count))) continue;
      p->is_ours = grew = true;
    }
  }
  return count;
}

static bool is_stopped(const struct process *p) { return p->state == 'T' || p->state == 't'; }
static bool is_living(const struct process *p) { return p->state != 'Z' && p->state != 'X'; }

/*
 * Everybody in the sandbox is stopped for a moment, the keeper too: then nobody starts another process, what is orphaned
 * still becomes the keeper's, and one look after another shows fewer. Without that, who only ever starts the next and ends
 * is never seen. The others go on when it is done; who was stopped before stays so.
 */
static void hunt(struct stream *s) {
  static pid_t sleepers[MAX_PROCESSES];
  int sleeper_count = 0, count = read_processes();
  for (int i = 0; i < count; i++)
    if (is_stopped(&processes[i])) sleepers[sleeper_count++] = processes[i].pid;

  bool is_first = getpid() == 1;
  if (is_first) kill(-1, SIGSTOP);
  int64_t give_up_ms = now_ms() + HUNT_MS;
  for (int left = 1; left > 0 && now_ms() < give_up_ms;) {
    left = 0;
    count = find_ours(s);
    for (int i = 0; i < count; i++) {
      const struct process *p = &processes[i];
      if (p->is_ours && is_living(p)) left += kill(p->pid, SIGKILL) == 0;
      /* A keeper that is not stopped yet may be about to start its command. */
      if (p->pid == s->pid && is_first && is_living(p) && !is_stopped(p)) left++;
    }
    if (left > 0) usleep(LOOK_EVERY_US);
  }
  /* It may not have started its command yet, and must not now. */
  kill(s->pid, SIGKILL);
  for (int i = 0, k = 0; i < count; i++) {
    while (k < sleeper_count && sleepers[k] < processes[i].pid) k++;
    bool was_asleep = k < sleeper_count && sleepers[k] == processes[i].pid;
    if (!processes[i].is_ours && !was_asleep && processes[i].pid != s->pid) kill(processes[i].pid, SIGCONT);
  }
}

static void cancel(struct stream *s) {
  if (s->is_cancelled || s->op == 0) return;
  s->is_cancelled = true;
  if (s->pid > 0 && s->op == EXEC) hunt(s);
  /* One that writes a file takes its draft away first; the end of its input would be the end of the file. */
  else if (s->pid > 0) kill(s->pid, SIGTERM);
}

static void reap(void) {
  for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;)
    for (int i = 0; i < MAX_STREAMS; i++)
      if (streams[i].id && streams[i].pid == pid) streams[i].pid = 0;
}

/* ---- what the host says ---- */

static void set_clock(uint32_t id, struct reader *r) {
  uint64_t ns = take(r, 8);
  struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  if (r->is_broken || clock_settime(CLOCK_REALTIME, &time)) send_fail(id, r->is_broken ? EBADMSG : (uint32_t)errno, 0);
  else send_frame(id, DONE, NULL, 0);
}

static void add_entropy(uint32_t id, struct reader *r) {
  struct {
    int entropy_count, size;
    uint8_t at[512];
  } pool = {0};
  size_t length = (size_t)(r->end - r->at);
  if (length > sizeof pool.at) length = sizeof pool.at;
  memcpy(pool.at, r->at, length);
  pool.size = (int)length;
  pool.entropy_count = pool.size * 8;
  int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
  bool is_done = fd >= 0 && !ioctl(fd, ADD_ENTROPY, &pool) && !ioctl(fd, RESEED);
  if (is_done) send_frame(id, DONE, NULL, 0);
  else send_fail(id, (uint32_t)errno, ABOUT_PATH);
  close_fd(&fd);
}

static void set_hostname(uint32_t id, struct reader *r) {
  char *name = take_text(r);
  if (r->is_broken || sethostname(name, strlen(name))) send_fail(id, r->is_broken ? EBADMSG : (uint32_t)errno, 0);
  else send_frame(id, DONE, NULL, 0);
}

/* Whoever says hello is a new host: what the one before left running is ended. */
static void greet(void) {
  for (int i = 0; i < MAX_STREAMS; i++) {
    struct stream *s = &streams[i];
    if (!s->id) continue;
    if (s->pid > 0) hunt(s);
    close_stream(s);
  }
  uint32_t facts[3] = {VERSION, MAX_FRAME, WINDOW};
  send_frame(0, HELLO, facts, sizeof facts);
}

static void take_part(struct stream *s, uint32_t id, const uint8_t *payload, size_t length) {
  if (s && s->op) die("a part of a request that has begun");
  if (!s) s = open_stream(id);
  if (!s) return;
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
  if (!is_work) return send_fail(id, ENOSYS, ABOUT_PATH);

  take_part(s, id, payload, length);
  s = stream_of(id);
  if (!s) return;
  s->op = op;
  if (s->request.length <= MAX_REQUEST) return start_child(s);
  send_fail(id, E2BIG, op == EXEC ? ABOUT_PROGRAM : ABOUT_PATH);
  close_stream(s);
}

/* A frame for a stream that is over crossed its last one on the way. */
static void take_frame(uint32_t id, uint8_t op, const uint8_t *payload, size_t length) {
  struct stream *s = id ? stream_of(id) : NULL;
  if (op == HELLO) return greet();
  if (id == 0) return;
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
  begin(s, id, op, payload, length);
}

/* Takes the frames that are in. One at a time when little fits out: an answer may be due for each. */
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

static struct pollfd polled[2 + MAX_STREAMS * 4 + MAX_DRAINS];

static int poll_for(int count, int fd, short events) {
  if (fd < 0) return count;
  polled[count] = (struct pollfd){fd, events, 0};
  return count + 1;
}

/* When a stream wants its turn though no descriptor of it moves; -1: never. */
static int64_t due_in_ms(const struct stream *s, int64_t now) {
  if (s->op != EXEC || s->drained_at_ms == 0 || s->owed[0] + s->owed[1] > 0) return -1;
  return s->drained_at_ms > now ? s->drained_at_ms - now : 0;
}

/* A full input holds a whole frame, which waits for room only. */
static bool can_read(void) { return out_room() >= 2 * MAX_FRAME && in_length < sizeof in; }

static void wait_for_work(const sigset_t *mask) {
  bool has_room = out_room() >= 2 * MAX_FRAME;
  bool has_output = out_start < out_end, is_one = channel_in == channel_out;
  int count = poll_for(0, channel_in, (short)((can_read() ? POLLIN : 0) | (is_one && has_output ? POLLOUT : 0)));
  if (!is_one && has_output) count = poll_for(count, channel_out, POLLOUT);
  int64_t wait_ms = -1, now = now_ms();
  for (int i = 0; i < MAX_STREAMS; i++) {
    struct stream *s = &streams[i];
    if (!s->id) continue;
    if (s->waiting.length) count = poll_for(count, s->in, POLLOUT);
    for (int k = 0; k < 2; k++)
      if (s->keep[k] == 0 || (s->credit && has_room)) count = poll_for(count, s->out[k], POLLIN);
    count = poll_for(count, s->answer_fd, POLLIN);
    int64_t due_ms = due_in_ms(s, now);
    if (due_ms >= 0 && (wait_ms < 0 || due_ms < wait_ms)) wait_ms = due_ms;
  }
  for (int i = 0; i < drain_count; i++) count = poll_for(count, drains[i], POLLIN);
  struct timespec timeout = {wait_ms / 1000, wait_ms % 1000 * 1000000};
  ppoll(polled, (nfds_t)count, wait_ms < 0 ? NULL : &timeout, mask);
}

static void serve_stream(struct stream *s) {
  if (s->op == 0) return;
  if (s->waiting.length) feed(s);
  if (s->answer_fd >= 0) read_answer(s);
  for (int i = 0; i < 2; i++)
    if (s->out[i] >= 0) carry(s, i);
  if (s->answer_fd >= 0) return;

  bool is_drained = s->out[0] < 0 && s->out[1] < 0;
  bool is_left_to_others = s->op == EXEC && s->owed[0] + s->owed[1] == 0 && now_ms() >= s->drained_at_ms;
  if (is_drained || is_left_to_others) finish(s);
}

static void serve_drains(void) {
  for (int i = drain_count - 1; i >= 0; i--) {
    ssize_t length = read(drains[i], scratch, sizeof scratch);
    if (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR))) continue;
    close(drains[i]);
    drains[i] = drains[--drain_count];
  }
}

static void on_child(int signal) { (void)signal; }

static void open_channel(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--fd")) {
    channel_in = channel_out = atoi(argv[2]);
  } else if (argc == 2 && !strcmp(argv[1], "--io")) {
    /* Out of the way of what children find there. */
    channel_in = fcntl(0, F_DUPFD, CHILD_ANSWER + 1);
    channel_out = fcntl(1, F_DUPFD, CHILD_ANSWER + 1);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) die("no /dev/null");
  } else {
    die("say where the channel is: --fd N, or --io for standard input and output");
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
      if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) _exit(0);
      if (length > 0) in_length += (size_t)length;
    }
    take_frames();
    reap();
    for (int i = 0; i < MAX_STREAMS; i++)
      if (streams[i].id) serve_stream(&streams[i]);
    serve_drains();
    send_out();
  }
}
