/*
 * The namespaces that the commands of one server share: ids, mounts and network.
 *
 * Three processes: this one has the ids and the network of the commands and the mounts of the host, and forwards
 * connections; a helper outside maps the ids; the builder makes the mounts and then only keeps them.
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
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TREE_CLONE 1
#define TREE_RECURSIVE 0x8000
#define MOVE_FROM_FD 0x00000004
#define ATTR_RDONLY 0x00000001
#define ATTR_NOSUID 0x00000002
#define ATTR_NODEV 0x00000004

enum { MOST = 256 };

/* Where the mounts are assembled, before /dev covers it. */
#define STAGE "/dev"

struct list {
  const char *paths[MOST];
  int trees[MOST], count;
};

static struct list hidden; /* empty and closed */
static struct list shared; /* empty, writable for all users */
static struct list private; /* empty, writable for this user */
static struct list writable; /* as on the host */
static struct list layers; /* writes are lost */
static struct list readable; /* read-only */
static const char *proxy;
/* Namespaces of a change, which has its layer at the path of the workspace. */
static int view_user = -1, view_mounts = -1;

static void add(struct list *list, const char *path) {
  errno = E2BIG;
  if (list->count == MOST) stop("cannot take more than %d paths of a kind", MOST);
  list->paths[list->count++] = path;
}

static void read_arguments(int argc, char **argv) {
  for (int i = 0; i + 1 < argc; i += 2) {
    const char *name = argv[i], *value = argv[i + 1];
    if (!strcmp(name, "--hide")) add(&hidden, value);
    else if (!strcmp(name, "--shared")) add(&shared, value);
    else if (!strcmp(name, "--private")) add(&private, value);
    else if (!strcmp(name, "--write")) add(&writable, value);
    else if (!strcmp(name, "--layer")) add(&layers, value);
    else if (!strcmp(name, "--read")) add(&readable, value);
    else if (!strcmp(name, "--proxy")) proxy = value;
    else if (!strcmp(name, "--view-user")) view_user = atoi(value);
    else if (!strcmp(name, "--view-mounts")) view_mounts = atoi(value);
    else errno = EINVAL, stop("unknown option %s", name);
  }
}

/* ---- namespaces ---- */

static void make_namespaces(void) {
  if (view_user >= 0 && setns(view_user, CLONE_NEWUSER)) stop("cannot enter the user namespace of the change");
  if (view_mounts >= 0 && setns(view_mounts, CLONE_NEWNS)) stop("cannot enter the mounts of the change");
  make_user_namespace();
  if (unshare(CLONE_NEWNET)) stop("cannot make a network namespace");
  raise_loopback();
  /* So that the server may open /proc/PID/ns of this process. */
  prctl(PR_SET_DUMPABLE, 1);
}

/* ---- mounts ---- */

static const char *const DEVICES[] = {"null", "zero", "full", "random", "urandom", "tty"};
enum { DEVICE_COUNT = sizeof DEVICES / sizeof *DEVICES };
static int device_trees[DEVICE_COUNT];

static int take(const char *path) {
  return (int)syscall(SYS_open_tree, AT_FDCWD, path, TREE_CLONE | TREE_RECURSIVE | O_CLOEXEC);
}

static void restrict_tree(int tree, const char *path, uint64_t set) {
  struct {
    uint64_t set, clear, propagation, userns;
  } attributes = {.set = set};
  unsigned flags = TREE_RECURSIVE | (*path ? 0 : AT_EMPTY_PATH);
  if (syscall(SYS_mount_setattr, tree, path, flags, &attributes, sizeof attributes)) stop("cannot restrict %s", *path ? path : "a directory");
}

static void put(int tree, const char *path) {
  if (syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_FROM_FD)) stop("cannot mount %s", path);
  close(tree);
}

static void take_all(struct list *list, uint64_t attributes) {
  for (int i = 0; i < list->count; i++) {
    if ((list->trees[i] = take(list->paths[i])) < 0) stop("cannot open %s", list->paths[i]);
    restrict_tree(list->trees[i], "", attributes);
  }
}

static void take_devices(void) {
  char path[32];
  for (int i = 0; i < DEVICE_COUNT; i++) {
    snprintf(path, sizeof path, "/dev/%s", DEVICES[i]);
    if ((device_trees[i] = take(path)) < 0) stop("cannot open %s", path);
  }
}

static void make_file(const char *path) {
  int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) stop("cannot make %s", path);
  close(fd);
}

/* The masks are made with the first device: a mask for files is a socket, which not even root can open. */
static void make_device(const char *dev, const char *name) {
  char path[64];
  if (!strcmp(name, DEVICES[0])) {
    snprintf(path, sizeof path, "%s/.masked", dev);
    if (mknod(path, S_IFSOCK, 0)) stop("cannot make %s", path);
    snprintf(path, sizeof path, "%s/.empty", dev);
    make_directory(path, 0);
  }
  snprintf(path, sizeof path, "%s/%s", dev, name);
  make_file(path);
  for (int i = 0; i < DEVICE_COUNT; i++)
    if (!strcmp(name, DEVICES[i])) put(device_trees[i], path);
}

/* Creates the directories above a mount point; existing ones are left as they are. */
static void make_parents(const char *path) {
  char copy[4096];
  if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy) errno = ENAMETOOLONG, stop("cannot mount %s", path);
  for (char *at = copy + 1; (at = strchr(at, '/')); *at++ = '/') {
    *at = 0;
    if (mkdir(copy, 0755) && errno != EEXIST && errno != EROFS) stop("cannot make %s", copy);
  }
}

static void make_mount_point(const char *path) {
  make_parents(path);
  if (mkdir(path, 0755) && errno != EEXIST && errno != EROFS) stop("cannot make %s", path);
}

/*
 * Covers a directory by an empty one, read-only in the end, and any other entry by a socket; files in it can only
 * belong to root.
 */
static void hide(const char *path) {
  struct stat st;
  if (lstat(path, &st)) return;
  if (S_ISDIR(st.st_mode)) attach("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=1024");
  else if (!S_ISLNK(st.st_mode)) attach(STAGE "/new/.masked", path, NULL, MS_BIND, NULL);
}

static void close_hidden(const char *path) {
  struct stat st;
  struct {
    uint64_t set, clear, propagation, userns;
  } attributes = {.set = ATTR_RDONLY};
  if (lstat(path, &st) || !S_ISDIR(st.st_mode)) return;
  if (syscall(SYS_mount_setattr, AT_FDCWD, path, 0, &attributes, sizeof attributes)) stop("cannot restrict %s", path);
}

/* Writes go to memory and are lost with the namespace. Without overlays the directory is read-only. */
static void add_layer(int index) {
  char lower[64], upper[64], work[64], options[256];
  snprintf(lower, sizeof lower, STAGE "/lower%d", index);
  snprintf(upper, sizeof upper, STAGE "/upper%d", index);
  snprintf(work, sizeof work, STAGE "/work%d", index);
  make_directory(lower, 0755);
  make_directory(upper, 0755);
  make_directory(work, 0755);
  put(layers.trees[index], lower);
  make_mount_point(layers.paths[index]);
  snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s,userxattr,index=off", lower, upper, work);
  if (!mount("overlay", layers.paths[index], "overlay", MS_NOSUID | MS_NODEV, options)) return;
  attach(lower, layers.paths[index], NULL, MS_BIND | MS_REC, NULL);
}

static void make_empty(const struct list *list, const char *options) {
  for (int i = 0; i < list->count; i++) {
    make_mount_point(list->paths[i]);
    attach("tmpfs", list->paths[i], "tmpfs", MS_NOSUID | MS_NODEV, options);
  }
}

static void build(void) {
  if (unshare(CLONE_NEWNS | CLONE_NEWIPC)) stop("cannot make a mount and an IPC namespace");
  attach(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  take_devices();
  take_all(&writable, ATTR_NOSUID | ATTR_NODEV);
  take_all(&layers, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
  take_all(&readable, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
  restrict_tree(AT_FDCWD, "/", ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);

  attach("tmpfs", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
  make_devices(STAGE "/new", make_device);
  for (int i = 0; i < hidden.count; i++) hide(hidden.paths[i]);
  make_empty(&shared, "mode=1777");
  make_empty(&private, "mode=755");
  for (int i = 0; i < layers.count; i++) add_layer(i);
  for (int i = 0; i < readable.count; i++) {
    make_mount_point(readable.paths[i]);
    put(readable.trees[i], readable.paths[i]);
  }
  for (int i = 0; i < writable.count; i++) {
    make_mount_point(writable.paths[i]);
    put(writable.trees[i], writable.paths[i]);
  }
  for (int i = 0; i < hidden.count; i++) close_hidden(hidden.paths[i]);
  attach(STAGE "/new", "/dev", NULL, MS_MOVE, NULL);
}

void hold(int argc, char **argv) {
  read_arguments(argc, argv);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  make_namespaces();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pid_t builder = fork();
  if (builder < 0) stop("cannot fork");
  if (builder == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    build();
    dprintf(1, "ok %d\n", (int)getpid());
    for (;;) pause();
  }
  signal(SIGCHLD, SIG_DFL);
  /* A builder that failed has printed the reason: end with it. */
  relay(proxy);
}
