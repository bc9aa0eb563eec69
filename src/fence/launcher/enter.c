/*
 * Runs one command inside.
 *
 * Three processes: this one is the job's for the server and ends as the command did; process 1 of the command's own
 * process namespace mounts /proc, hides protected files, passes on signals and reaps; its child becomes the command.
 * When process 1 or this one ends, the kernel kills everything inside.
 */
#define _GNU_SOURCE
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Descriptors that the server passes. Without a fence only USER_SPACE and MOUNTS; for root without a fence only MOUNTS. */
enum { USER_SPACE = 3, MOUNTS = 4, NETWORK = 5, SYSTEM_V = 6 };

enum { LAST_CAPABILITY = 63, MAX_FILTER_BYTES = 4096 };

/* Variables of the command arrive under other names: programs outside that start this one must not obey them. */
#define VARIABLE_PREFIX "FENCED_"

static const char *cwd, *filter_path, *terminal_path;
static char **masks, **command;
static int mask_count, terminal = -1;
static bool has_own_network;
/* In a change without a fence: only mounts and processes are separate. */
static bool is_bare, has_user_space = true;
/* A cgroup of the server kills processes that the command leaves, so the command needs no process namespace. */
static bool is_contained;
static uint64_t filter[MAX_FILTER_BYTES / 8];
static ssize_t filter_bytes;
static volatile int *end;

static void read_arguments(int argc, char **argv) {
  masks = calloc((size_t)argc + 1, sizeof *masks);
  for (int i = 0; i + 1 < argc; i += 2) {
    const char *name = argv[i];
    if (!strcmp(name, "--")) {
      command = argv + i + 1;
      break;
    }
    if (!strcmp(name, "--cwd")) cwd = argv[i + 1];
    else if (!strcmp(name, "--filter")) filter_path = argv[i + 1];
    else if (!strcmp(name, "--terminal")) terminal_path = argv[i + 1];
    else if (!strcmp(name, "--mask")) masks[mask_count++] = argv[i + 1];
    else if (!strcmp(name, "--bare")) is_bare = true, has_user_space = !strcmp(argv[i + 1], "user");
    else if (!strcmp(name, "--contained")) is_contained = !strcmp(argv[i + 1], "yes");
    else if (!strcmp(name, "--network")) has_own_network = !strcmp(argv[i + 1], "none");
    else errno = EINVAL, stop("unknown option %s", name);
  }
  errno = EINVAL;
  if (!masks || !command || !*command || !cwd || (!filter_path && !is_bare)) stop("cwd, filter and command are needed");
}

static void read_filter(void) {
  int fd = open(filter_path, O_RDONLY | O_CLOEXEC);
  filter_bytes = fd < 0 ? -1 : read(fd, filter, sizeof filter);
  if (filter_bytes <= 0 || filter_bytes % 8) stop("cannot read %s", filter_path);
  close(fd);
}

static char **own_variables(char **all) {
  size_t kept = 0, length = strlen(VARIABLE_PREFIX);
  for (char **at = all; *at; at++)
    if (!strncmp(*at, VARIABLE_PREFIX, length)) all[kept++] = *at + length;
  all[kept] = NULL;
  return all;
}

/* ---- the command ---- */

/*
 * Root keeps the capabilities to own its files and to become another user; they have no effect outside the namespaces.
 */
static void drop_rights(void) {
  struct {
    uint32_t version, pid;
  } header = {0x20080522, 0};
  uint32_t sets[6] = {0};
  if (geteuid() == 0) sets[0] = sets[1] = (uint32_t)bound_rights();
  for (int i = 0; geteuid() != 0 && i <= LAST_CAPABILITY; i++)
    if (prctl(PR_CAPBSET_DROP, i) && errno != EINVAL) stop("cannot drop a capability");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) stop("cannot forbid new privileges");
  if (syscall(SYS_capset, &header, sets)) stop("cannot drop capabilities");
}

static void filter_calls(void) {
  struct {
    uint16_t count;
    void *at;
  } description = {(uint16_t)(filter_bytes / 8), filter};
  if (prctl(PR_SET_SECCOMP, 2 /* filter */, &description)) stop("cannot filter system calls");
}

static void reset_signals(void) {
  sigset_t none;
  for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void begin_session(void) {
  if (setsid() < 0) stop("cannot make a session");
  if (terminal < 0) return;
  if (ioctl(terminal, TIOCSCTTY, 0)) stop("cannot take the terminal");
  for (int i = 0; i < 3; i++)
    if (dup2(terminal, i) < 0) stop("cannot use the terminal");
}

static _Noreturn void be_command(char **variables) {
  if (chdir(cwd)) stop("cannot enter %s", cwd);
  if (!is_bare) {
    drop_rights();
    filter_calls();
  }
  reset_signals();
  syscall(SYS_close_range, 3, ~0U, 4 /* on exec */);
  environ = variables;
  execvp(command[0], command);
  const char *why = is_bare ? "" : "; inside the fence home is empty but for the folders of fence_paths";
  dprintf(2, "fence: %s was not started: %s%s\n", command[0], strerror(errno), why);
  _exit(errno == ENOENT ? 127 : 126);
}

/* ---- process 1 ---- */

static pid_t leader;

/* Passes on signals only from outside: a sender outside of this namespace has pid 0. */
static void pass_on(int number, siginfo_t *from, void *context) {
  (void)context;
  if (from->si_pid == 0 && leader > 0) kill(-leader, number);
}

static void pass_signals_on(void) {
  static const int PASSED[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
  struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigset_t none;
  for (size_t i = 0; i < sizeof PASSED / sizeof *PASSED; i++) sigaction(PASSED[i], &action, NULL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void be_first(char **variables) {
  int status;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (has_own_network) raise_loopback();
  attach(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  attach("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | (is_bare ? 0 : MS_RDONLY), NULL);
  for (int i = 0; i < mask_count; i++) mask(masks[i]);
  leader = fork();
  if (leader < 0) stop("cannot fork");
  if (leader == 0) {
    begin_session();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    be_command(variables);
  }
  prctl(PR_SET_DUMPABLE, 0);
  syscall(SYS_close_range, 0, ~0U, 0);
  pass_signals_on();
  for (pid_t ended; (ended = wait(&status)) != leader;)
    if (ended < 0 && errno != EINTR) _exit(126);
  *end = status;
  _exit(0);
}

/* ---- outside ---- */

static void join(int space, int kind, const char *name) {
  if (setns(space, kind)) stop("cannot enter the %s namespace", name);
}

/* Ends as the command ended: with its exit code, or by its signal. */
static _Noreturn void end_as(int status) {
  struct rlimit no_core = {0, 0};
  sigset_t none;
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  setrlimit(RLIMIT_CORE, &no_core);
  signal(WTERMSIG(status), SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  raise(WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}

void enter(int argc, char **argv) {
  sigset_t all;
  int status;
  pid_t server = getppid();
  read_arguments(argc, argv);
  if (!is_bare) read_filter();
  if (terminal_path && (terminal = open(terminal_path, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) stop("cannot open the terminal");
  /* So that a failure is reported on the terminal. */
  if (terminal >= 0 && dup2(terminal, 2) < 0) stop("cannot use the terminal");
  char **variables = own_variables(environ);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  end = mmap(NULL, sizeof *end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (end == MAP_FAILED) stop("cannot share memory");
  *end = -1;

  if (has_user_space) join(USER_SPACE, CLONE_NEWUSER, "user");
  if (!is_bare && !has_own_network) join(NETWORK, CLONE_NEWNET, "network");
  if (!is_bare) join(SYSTEM_V, CLONE_NEWIPC, "IPC");
  join(MOUNTS, CLONE_NEWNS, "mount");
  if (is_bare && is_contained && terminal < 0) be_command(variables);
  /* Set after the last change of credentials, which clears it. The server may have ended before. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(126);
  unsigned long spaces = CLONE_NEWNS | CLONE_NEWPID | (has_own_network ? CLONE_NEWNET : 0);
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD | spaces, NULL, NULL, NULL, NULL);
  if (child < 0) stop("cannot make namespaces");
  if (child == 0) be_first(variables);
  syscall(SYS_close_range, 0, ~0U, 0);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) _exit(126);
  if (*end != -1) end_as(*end);
  _exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 126);
}
