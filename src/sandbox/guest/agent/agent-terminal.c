/*
 * The terminal of a command: the agent reads and writes its master as it does pipes; the command has its other side as
 * its controlling terminal. Also sends signals to a command, which are its only keys without a terminal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "agent-loop.h"

/* Offsets of the user and the size in a request. */
enum { UID_AT = 0, SIZE_AT = 17, SIZE_END = 21 };

/* The command may open its terminal by name: it belongs to the user of the command. */
static bool open_side(int master, uint32_t uid, int sides[3]) {
  char path[64];
  if (unlockpt(master) || ptsname_r(master, path, sizeof path)) return false;
  sides[0] = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (sides[0] < 0) return false;
  if (uid != UNSAID && uid != getuid() && fchown(sides[0], uid, UNSAID)) return false;
  for (int i = 1; i < 3; i++) sides[i] = fcntl(sides[0], F_DUPFD_CLOEXEC, 0);
  return sides[1] >= 0 && sides[2] >= 0;
}

static void set_size(int master, uint16_t rows, uint16_t columns) {
  ioctl(master, TIOCSWINSZ, &(struct winsize){.ws_row = rows, .ws_col = columns});
}

bool open_terminal(const struct stream *s, int *master, int sides[3]) {
  uint32_t uid;
  uint16_t size[2];
  if (s->request.length < SIZE_END) return errno = EBADMSG, false;
  memcpy(&uid, s->request.at + UID_AT, sizeof uid);
  memcpy(size, s->request.at + SIZE_AT, sizeof size);
  *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*master < 0) return false;
  set_size(*master, size[0], size[1]);
  return open_side(*master, uid, sides);
}

/* ---- where the kernel's terminals send no signals ---- */

/* Reads the foreground process group now: it changes with every program that a shell runs. */
static void pass_on(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  int reason = errno;
  pid_t group = tcgetpgrp(CHILD_IN);
  if (group > 1) kill(-group, info->si_value.sival_int);
  errno = reason;
}

bool lead_session(void) {
  sigaction(SIGRTMIN, &(struct sigaction){.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART}, NULL);
  /* gVisor returns 0 for success. */
  return setsid() >= 0 && !ioctl(CHILD_IN, TIOCSCTTY, 0);
}

bool enter_foreground(void) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  bool is_done = !setpgid(0, 0) && !tcsetpgrp(CHILD_IN, getpid());
  sigprocmask(SIG_UNBLOCK, &blocked, NULL);
  return is_done;
}

static void signal_foreground(const struct stream *s, int number) {
  if (s->pid > 0 && s->command > 0) sigqueue(s->pid, SIGRTMIN, (union sigval){.sival_int = number});
}

static int signal_of(const struct termios *settings, uint8_t key) {
  static const int KEYS[][2] = {{VINTR, SIGINT}, {VQUIT, SIGQUIT}, {VSUSP, SIGTSTP}};
  if (key == 0 || !(settings->c_lflag & ISIG)) return 0;
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
    if (settings->c_cc[KEYS[i][0]] == key) return KEYS[i][1];
  return 0;
}

size_t typed_run(struct stream *s, const uint8_t *from, size_t length) {
  struct termios settings;
  if (has_terminal_signals() || tcgetattr(s->in, &settings)) return length;
  size_t run = 0;
  while (run < length && !signal_of(&settings, from[run])) run++;
  if (run == 0) signal_foreground(s, signal_of(&settings, from[0]));
  return run;
}

/* ---- */

void resize_terminal(struct stream *s, struct reader *r) {
  uint16_t rows = (uint16_t)take(r, 2), columns = (uint16_t)take(r, 2);
  if (r->is_broken || !s->is_terminal || s->out[0] < 0) return;
  set_size(s->out[0], rows, columns);
  if (!has_terminal_signals()) signal_foreground(s, SIGWINCH);
}

/* Only while the command runs: later its pid may belong to another process. */
void signal_command(struct stream *s, struct reader *r) {
  int number = (int)take(r, 1);
  if (!r->is_broken && s->op == EXEC && s->command > 1 && s->answer_fd >= 0) kill(-s->command, number);
}
