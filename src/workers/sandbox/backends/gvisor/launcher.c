/*
 * Makes the environment of runsc and starts it there: a jail around gVisor, with the disk of the sandbox in it.
 *
 * runsc, its gofer and its kernel are all in the jail and end with process 1, which is runsc. Their state is in the
 * jail's own memory, so nothing of them is left on the host. Arguments after `--` are passed to runsc. See
 * docs/design/gvisor.md.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../launcher/launching.h"

static const char *runsc_path, *config, *statx_path;
static char **runsc_words;
static unsigned long max_file_mb;
static int agent, statx_library;

static void read_arguments(int argc, char **argv) {
  for (int i = 1; i + 1 < argc && !runsc_words; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    if (take_argument(name, value)) continue;
    if (!strcmp(name, "--runsc")) runsc_path = value;
    else if (!strcmp(name, "--config")) config = value;
    else if (!strcmp(name, "--statx")) statx_path = value;
    else if (!strcmp(name, "--max-file-mb")) max_file_mb = strtoul(value, NULL, 10);
    /* argv[0] of runsc replaces the dashes. */
    else if (!strcmp(name, "--")) runsc_words = argv + i;
  }
  errno = EINVAL;
  if (!given.root || !given.agent || !given.disk_mb || !runsc_path || !config || !statx_path || !max_file_mb || !runsc_words)
    stop("root, agent, disk, runsc, config, statx, largest file and words for runsc are needed");
}

static void put(const char *path, int file) {
  struct stat st;
  unlink(path);
  int copy = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
  if (copy < 0 || fstat(file, &st) || sendfile(copy, file, &(off_t){0}, (size_t)st.st_size) != st.st_size) stop("cannot put %s", path);
}

/*
 * Puts the agent and its library into directories of the image, resolved inside its root: symlinks of the image cannot
 * point outside. A /tmp that is not empty also stops runsc from mounting over it, so that all files count towards the
 * disk.
 */
static void put_agent(void) {
  pid_t child = fork();
  if (child < 0) stop("cannot fork");
  if (child == 0) {
    if (chroot("/tmp/jail/root") || chdir("/")) stop("cannot look from the root");
    furnish_root();
    put("/tmp/.agent", agent);
    put("/tmp/.statx", statx_library);
    _exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) < 0 || status) _exit(126);
}

static void write_config(void) {
  int fd = open("/tmp/jail/bundle/config.json", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, config, strlen(config)) != (ssize_t)strlen(config)) stop("cannot write the configuration");
  close(fd);
}

/* Binds the program by its descriptor: its path may be below a mount. */
static void bind_runsc(int program) {
  char from[64];
  int fd = open("/tmp/jail/runsc", O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
  if (fd < 0) stop("cannot make /runsc");
  close(fd);
  snprintf(from, sizeof from, "/proc/self/fd/%d", program);
  attach(from, "/tmp/jail/runsc", NULL, MS_BIND, NULL);
}

static void make_jail(int program) {
  static const char *const DIRECTORIES[] = {"root", "dev", "proc", "bundle", "state", "tmp"};
  char path[64];
  make_directory("/tmp/jail", 0755);
  attach("tmpfs", "/tmp/jail", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4m,nr_inodes=1024");
  for (size_t i = 0; i < sizeof DIRECTORIES / sizeof *DIRECTORIES; i++) {
    snprintf(path, sizeof path, "/tmp/jail/%s", DIRECTORIES[i]);
    make_directory(path, 0755);
  }
  attach("/tmp/root", "/tmp/jail/root", NULL, MS_MOVE, NULL);
  attach("proc", "/tmp/jail/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  make_node("/tmp/jail/dev", "null");
  make_node("/tmp/jail/dev", "urandom");
  bind_runsc(program);
  write_config();
}

static void be_inside(int image) {
  char *env[] = {NULL};
  int program = open(runsc_path, O_PATH | O_CLOEXEC);
  if (program < 0) stop("cannot open %s", runsc_path);
  close(make_root(image));
  make_jail(program);
  put_agent();
  int jail = open("/tmp/jail", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (jail < 0) stop("cannot open the jail");
  pivot_into(jail);

  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 65536);
  /* Limits file size, because the memory of the guest is a file. */
  limit(RLIMIT_FSIZE, (rlim_t)max_file_mb << 20);
  if (dup2(CHANNEL, 0) < 0 || dup2(CHANNEL, 1) < 0) stop("cannot pass the channel");
  syscall(SYS_close_range, CHANNEL, ~0U, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) stop("cannot forbid new privileges");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  runsc_words[0] = "runsc";
  execve("/runsc", runsc_words, env);
  stop("cannot start runsc");
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  agent = copy_agent();
  statx_library = open(statx_path, O_RDONLY | O_CLOEXEC);
  if (statx_library < 0) stop("cannot read %s", statx_path);
  given.is_kernel = true;
  launch(be_inside);
}
