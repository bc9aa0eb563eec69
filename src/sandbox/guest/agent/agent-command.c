/*
 * A command, in the child that was forked for it: from its request to the program, and its exit code.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

struct command {
  uint32_t uid, gid;
  uint8_t flags;
  char *cwd, **argv, **env;
};

/* Returns only with the reason. gVisor reports too many arguments as ENAMETOOLONG, and exhausted memory as EFAULT. */
static void try_program(const char *file, const struct command *c) {
  execve(file, c->argv, c->env);
  if (errno == ENAMETOOLONG && strlen(file) <= NAME_MAX) errno = E2BIG;
  if (errno == EFAULT) errno = ENOMEM;
}

/* Starts the first program on the PATH that can be started. Returns only with the reason of the failure. */
static void start_program(const struct command *c) {
  const char *path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  if (strchr(c->argv[0], '/')) {
    try_program(c->argv[0], c);
    return;
  }
  for (char **entry = c->env; *entry; entry++)
    if (!strncmp(*entry, "PATH=", 5)) path = *entry + 5;

  int reason = ENOENT;
  for (; c->argv[0][0]; path++) {
    char file[4096];
    size_t length = strcspn(path, ":");
    int size = snprintf(file, sizeof file, "%.*s/%s", (int)length, length ? path : ".", c->argv[0]);
    if (size > 0 && (size_t)size < sizeof file) try_program(file, c);
    else errno = ENOENT; /* longer than any path */
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

/*
 * Stays between the agent and a command. Orphans of the command become children of the keeper and not of the agent, so
 * that every descendant of a command can be found while it runs. After the command has ended, the agent kills the
 * keeper, which releases the orphans: until the end is reported to the host, the host may still ask for all of them to
 * be killed.
 */
static void keep(const struct command *c) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  mark_family(getpid());
  /* When memory runs out, commands go before the agent. */
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, "500", 3) < 0) close_fd(&fd);
  close_fd(&fd);

  /* A keeper that is the session leader keeps its terminal open. */
  bool is_led = c->flags & HAS_TERMINAL && !has_terminal_signals();
  if (is_led && !lead_session()) {
    answer((uint32_t)errno, ABOUT_TERMINAL, NULL, 0);
    _exit(0);
  }

  volatile uint8_t about = 0;
  volatile int failed = 0;
  pid_t pid = vfork();
  if (pid == 0) {
    bool is_ready = is_led ? enter_foreground() : setsid() >= 0;
    if (c->flags & HAS_TERMINAL && !is_led) is_ready = !ioctl(CHILD_IN, TIOCSCTTY, 0);
    about = is_ready ? become(c) : ABOUT_TERMINAL;
    failed = errno;
    _exit(127);
  }
  if (pid < 0) failed = errno, about = ABOUT_PROGRAM;
  if (failed) {
    answer((uint32_t)failed, about, NULL, 0);
    _exit(0);
  }
  for (fd = is_led ? CHILD_OUT : CHILD_IN; fd <= CHILD_ERR; fd++) close(fd);
  uint32_t command = (uint32_t)pid;
  if (c->flags & IS_FOLLOWED) answer(0, ABOUT_START, &command, 4);
  for (;;) {
    int status;
    pid_t ended = waitpid(-1, &status, 0);
    if (ended == pid) {
      uint8_t code = (uint8_t)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
      answer(0, 0, (uint8_t[]){code, WIFSIGNALED(status)}, 2);
      close(CHILD_ANSWER);
    } else if (ended < 0 && errno != EINTR) {
      pause();
    }
  }
}

void run_command(struct reader *r) {
  struct command c;
  c.uid = (uint32_t)take(r, 4), c.gid = (uint32_t)take(r, 4);
  take(r, 8); /* how much output is kept: read by the agent itself, as the size of the terminal */
  c.flags = (uint8_t)take(r, 1);
  if (c.flags & HAS_TERMINAL) take(r, 4);
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
