/*
 * The agent's work on files: each request in a child of its own, with plain blocking calls, until it has answered.
 *
 * Paths are resolved as in the guest; nothing here protects the guest from itself. Trees are walked by descriptor and
 * symlinks in them are never followed, so removing or changing one tree touches no other.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* Sent instead of a piece's length: the file cannot be read further, and the errno follows. */
#define FAILED_PIECE UINT32_MAX

enum { COPY_BYTES = 256 * 1024, ROWS_BYTES = 64 * 1024, MAX_NAME = 4096, ROW_BYTES = 31 };

static uint8_t block[COPY_BYTES];

/* A draft that is removed if the work fails. */
static const char *half_done;
static void remove_path(const char *path, bool is_recursive, uint8_t about);

/* Ends the work with the reason of the failure. */
static void refuse(int error, uint8_t about) {
  const char *left = half_done;
  half_done = NULL;
  if (left && !faccessat(AT_FDCWD, left, F_OK, AT_SYMLINK_NOFOLLOW)) remove_path(left, true, about);
  answer((uint32_t)error, about, NULL, 0);
  _exit(0);
}

static void succeed(const void *payload, size_t length) {
  answer(0, 0, payload, length);
  _exit(0);
}

static void need(bool is_well, uint8_t about) {
  if (!is_well) refuse(errno, about);
}

/* ---- rows: facts of one entry ---- */

static uint8_t rows[ROWS_BYTES];
static size_t rows_length;

static void flush_rows(void) {
  write_all(CHILD_OUT, rows, rows_length);
  rows_length = 0;
}

static uint8_t kind_of(mode_t mode) {
  return S_ISREG(mode) ? 'f' : S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : 'o';
}

/* kind, mode, uid, gid, size, time, and the length of the name that follows. */
static size_t put_row(uint8_t *to, const struct stat *st, const char *name, size_t name_length) {
  uint32_t mode = st->st_mode & 07777, uid = st->st_uid, gid = st->st_gid;
  uint64_t size = (uint64_t)st->st_size;
  int64_t mtime = st->st_mtime;
  uint16_t length = (uint16_t)name_length;
  to[0] = kind_of(st->st_mode);
  memcpy(to + 1, &mode, 4);
  memcpy(to + 5, &uid, 4);
  memcpy(to + 9, &gid, 4);
  memcpy(to + 13, &size, 8);
  memcpy(to + 21, &mtime, 8);
  memcpy(to + 29, &length, 2);
  memcpy(to + ROW_BYTES, name, name_length);
  return ROW_BYTES + name_length;
}

static void add_row(const struct stat *st, const char *name) {
  size_t length = strlen(name);
  if (rows_length + ROW_BYTES + length > ROWS_BYTES) flush_rows();
  rows_length += put_row(rows + rows_length, st, name, length);
}

static bool is_dots(const char *name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

/* ---- stat, list and walk ---- */

static void stat_path(struct reader *r) {
  bool is_followed = take(r, 1);
  const char *path = take_text(r);
  struct stat st;
  uint8_t row[ROW_BYTES];
  need(fstatat(AT_FDCWD, path, &st, is_followed ? 0 : AT_SYMLINK_NOFOLLOW) == 0, ABOUT_PATH);
  succeed(row, put_row(row, &st, "", 0));
}

static void list(struct reader *r) {
  bool is_followed = take(r, 1);
  const char *path = take_text(r);
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (is_followed ? 0 : O_NOFOLLOW));
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  need(dir != NULL, ABOUT_PATH);
  for (struct dirent *entry; (entry = readdir(dir));) {
    struct stat st;
    if (!is_dots(entry->d_name) && !fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) add_row(&st, entry->d_name);
  }
  flush_rows();
  succeed(NULL, 0);
}

/*
 * Rows of everything below a directory, each directory before its contents. An unreadable entry has kind 'e' and its
 * errno as size.
 */
static void walk_into(int fd, char *path, size_t length, uint32_t depth) {
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) {
    struct stat problem = {.st_size = errno};
    path[length ? length - 1 : 0] = 0;
    add_row(&problem, path);
    rows[rows_length - strlen(path) - ROW_BYTES] = 'e';
    if (fd >= 0) close(fd);
    return;
  }
  for (struct dirent *entry; (entry = readdir(dir));) {
    struct stat st;
    size_t name_length = strlen(entry->d_name);
    if (is_dots(entry->d_name) || length + name_length + 2 > MAX_NAME) continue;
    if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    memcpy(path + length, entry->d_name, name_length + 1);
    add_row(&st, path);
    if (!S_ISDIR(st.st_mode) || depth == 0) continue;
    path[length + name_length] = '/';
    int below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    walk_into(below, path, length + name_length + 1, depth - 1);
  }
  closedir(dir);
}

static void walk(struct reader *r) {
  uint32_t max_depth = (uint32_t)take(r, 4);
  static char path[MAX_NAME + 1];
  int fd = open(take_text(r), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  need(fd >= 0, ABOUT_PATH);
  walk_into(fd, path, 0, max_depth);
  flush_rows();
  succeed(NULL, 0);
}

/* ---- reading ---- */

/* Opens a file for reading. A FIFO or a device is refused: a read might never end or never begin. */
static int open_to_read(const char *path, struct stat *st) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0 || fstat(fd, st)) return -1;
  if (S_ISREG(st->st_mode)) return fd;
  errno = S_ISDIR(st->st_mode) ? EISDIR : ENXIO;
  close(fd);
  return -1;
}

static void read_file(struct reader *r) {
  uint64_t offset = take(r, 8), left = take(r, 8);
  struct stat st;
  int fd = open_to_read(take_text(r), &st);
  need(fd >= 0, ABOUT_PATH);
  need(offset == 0 || lseek(fd, (off_t)offset, SEEK_SET) >= 0, ABOUT_PATH);
  add_row(&st, "");
  flush_rows();
  while (left > 0) {
    ssize_t length = read(fd, block, left < COPY_BYTES ? (size_t)left : COPY_BYTES);
    need(length >= 0, ABOUT_PATH);
    if (length == 0) break;
    write_all(CHILD_OUT, block, (size_t)length);
    left -= (uint64_t)length;
  }
  succeed(NULL, 0);
}

/*
 * Each file as its errno and then, in pieces with their lengths, its bytes. An empty piece ends the file, or a piece
 * with an errno.
 */
static void read_many(struct reader *r) {
  uint64_t max_bytes = take(r, 8);
  while (r->at < r->end && !r->is_broken) {
    struct stat st;
    int fd = open_to_read(take_text(r), &st);
    uint32_t error = fd < 0 ? (uint32_t)errno : (uint64_t)st.st_size > max_bytes ? EFBIG : 0, length = 0;
    write_all(CHILD_OUT, &error, 4);
    /* Also refuses a file that grew meanwhile: the piece that exceeds the limit shows that. */
    for (uint64_t total = 0; error == 0; total += length) {
      ssize_t got = total > max_bytes ? 0 : read(fd, block, COPY_BYTES);
      error = got < 0 ? (uint32_t)errno : 0;
      length = got < 0 ? FAILED_PIECE : (uint32_t)got;
      write_all(CHILD_OUT, &length, 4);
      if (error) write_all(CHILD_OUT, &error, 4);
      if (error || length == 0) break;
      write_all(CHILD_OUT, block, length);
    }
    if (fd >= 0) close(fd);
  }
  succeed(NULL, 0);
}

/* ---- writing ---- */

/* The directory of a path, and its last name; `path` is taken apart. */
static int open_parent(char *path, const char **name) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') path[--length] = 0;
  char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  if (!slash) return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (slash == path) return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  *slash = 0;
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  *slash = '/';
  return fd;
}

/* Creates missing parent directories of a path. */
static void make_parents(char *path) {
  for (char *slash = strchr(path + (*path == '/'), '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool is_there = mkdir(path, 0755) == 0 || errno == EEXIST;
    *slash = '/';
    need(is_there, ABOUT_PARENT);
  }
}

static int draft_dir = -1;
static char draft_name[64];

static void drop_draft(int signal) {
  (void)signal;
  unlinkat(draft_dir, draft_name, 0);
  _exit(0);
}

static int open_draft(int dir) {
  uint8_t noise[8] = {0};
  if (syscall(SYS_getrandom, noise, sizeof noise, 0) < 0) return -1;
  int at = snprintf(draft_name, sizeof draft_name, ".workcell-");
  for (size_t i = 0; i < sizeof noise; i++) at += snprintf(draft_name + at, sizeof draft_name - (size_t)at, "%02x", noise[i]);
  draft_dir = dir;
  signal(SIGTERM, drop_draft);
  return openat(dir, draft_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static void need_draft(bool is_well) {
  if (is_well) return;
  int error = errno;
  unlinkat(draft_dir, draft_name, 0);
  refuse(error, ABOUT_PATH);
}

/* Writes a file atomically: a draft is renamed over it when it is complete. */
static void write_file(struct reader *r) {
  uint32_t mode = (uint32_t)take(r, 4), uid = (uint32_t)take(r, 4), gid = (uint32_t)take(r, 4);
  bool has_parents = take(r, 1), is_followed = take(r, 1);
  char *path = take_text(r), resolved[PATH_MAX];
  struct stat before;
  bool is_there = fstatat(AT_FDCWD, path, &before, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && is_followed && S_ISLNK(before.st_mode)) {
    path = realpath(path, resolved);
    need(path != NULL, ABOUT_PATH);
    is_there = stat(path, &before) == 0;
  }
  if (is_there && S_ISDIR(before.st_mode)) refuse(EISDIR, ABOUT_PATH);

  const char *name;
  if (has_parents) make_parents(path);
  int dir = open_parent(path, &name);
  need(dir >= 0, ABOUT_PARENT);
  int fd = open_draft(dir);
  need(fd >= 0, ABOUT_PATH);
  uint64_t written = 0;
  for (;;) {
    ssize_t length = read(CHILD_IN, block, COPY_BYTES);
    if (length < 0 && errno == EINTR) continue;
    need_draft(length >= 0);
    if (length == 0) break;
    for (ssize_t done = 0, piece; done < length; done += piece) {
      piece = write(fd, block + done, (size_t)(length - done));
      need_draft(piece >= 0);
    }
    written += (uint64_t)length;
  }
  bool is_kept = is_there && S_ISREG(before.st_mode);
  if (mode == UNSAID) mode = is_kept ? before.st_mode & 07777 : 0644;
  if (uid != UNSAID || gid != UNSAID) need_draft(fchown(fd, uid, gid) == 0);
  need_draft(fchmod(fd, mode) == 0 && fsync(fd) == 0);
  need_draft(renameat(dir, draft_name, dir, name) == 0);
  fsync(dir);
  succeed(&written, 8);
}

static void make_dir(struct reader *r) {
  uint32_t mode = (uint32_t)take(r, 4);
  bool has_parents = take(r, 1);
  char *path = take_text(r);
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') path[--length] = 0;
  if (has_parents) make_parents(path);
  uint8_t is_new = mkdir(path, 0755) == 0;
  if (is_new) {
    need(chmod(path, mode) == 0, ABOUT_PATH);
    succeed(&is_new, 1);
  }
  struct stat st;
  int error = errno;
  if (error == EEXIST && has_parents && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) succeed(&is_new, 1);
  refuse(error, error == ENOENT ? ABOUT_PARENT : ABOUT_PATH);
}

/* ---- trees ---- */

static void remove_below(int fd) {
  DIR *dir = fdopendir(fd);
  need(dir != NULL, ABOUT_PATH);
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (is_dots(entry->d_name) || unlinkat(fd, entry->d_name, 0) == 0) continue;
    need(errno == EISDIR || errno == EPERM, ABOUT_PATH);
    int below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    need(below >= 0, ABOUT_PATH);
    remove_below(below);
    need(unlinkat(fd, entry->d_name, AT_REMOVEDIR) == 0, ABOUT_PATH);
  }
  closedir(dir);
}

static void remove_path(const char *path, bool is_recursive, uint8_t about) {
  struct stat st;
  need(fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0, about);
  if (!S_ISDIR(st.st_mode)) return need(unlink(path) == 0, about);
  if (is_recursive) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    need(fd >= 0, about);
    remove_below(fd);
  }
  need(rmdir(path) == 0, about);
}

static void remove_tree(struct reader *r) {
  bool is_recursive = take(r, 1);
  remove_path(take_text(r), is_recursive, ABOUT_PATH);
  succeed(NULL, 0);
}

struct rights {
  uint32_t mode, uid, gid, changed;
  int flags; /* in a tree: does not follow an entry that has become a link meanwhile */
};

/* The owner first: chown clears the special bits. */
static void change_one(int dir, const char *name, struct rights *to) {
  if (to->uid != UNSAID || to->gid != UNSAID) need(fchownat(dir, name, to->uid, to->gid, to->flags) == 0, ABOUT_PATH);
  need(fchmodat(dir, name, to->mode, to->flags) == 0, ABOUT_PATH);
  to->changed++;
}

static void change_below(int fd, struct rights *to) {
  DIR *dir = fdopendir(fd);
  need(dir != NULL, ABOUT_PATH);
  for (struct dirent *entry; (entry = readdir(dir));) {
    struct stat st;
    if (is_dots(entry->d_name) || fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    if (S_ISLNK(st.st_mode)) continue;
    if (S_ISDIR(st.st_mode)) {
      int below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      need(below >= 0, ABOUT_PATH);
      change_below(below, to);
    }
    change_one(fd, entry->d_name, to);
  }
  closedir(dir);
}

static void change_rights(struct reader *r) {
  uint32_t mode = (uint32_t)take(r, 4), uid = (uint32_t)take(r, 4), gid = (uint32_t)take(r, 4);
  bool is_recursive = take(r, 1);
  struct rights to = {.mode = mode, .uid = uid, .gid = gid, .flags = is_recursive ? AT_SYMLINK_NOFOLLOW : 0};
  const char *path = take_text(r);
  struct stat st;
  need(fstatat(AT_FDCWD, path, &st, to.flags) == 0, ABOUT_PATH);
  if (S_ISLNK(st.st_mode)) refuse(ENOTDIR, ABOUT_PATH); /* a tree must not be a symlink */
  if (is_recursive && S_ISDIR(st.st_mode)) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    need(fd >= 0, ABOUT_PATH);
    change_below(fd, &to);
  }
  change_one(AT_FDCWD, path, &to);
  succeed(&to.changed, 4);
}

static void keep_rights(int dir, const char *name, const struct stat *st) {
  /* Only root can chown; a copy that belongs to the current user is still a copy. */
  if (fchownat(dir, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) && errno != EPERM && errno != EINVAL) need(false, ABOUT_PATH);
  if (!S_ISLNK(st->st_mode)) need(fchmodat(dir, name, st->st_mode & 07777, AT_SYMLINK_NOFOLLOW) == 0, ABOUT_PATH);
  struct timespec times[2] = {st->st_atim, st->st_mtim};
  utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW);
}

static volatile sig_atomic_t is_unwanted;

static void note_unwanted(int signal) {
  (void)signal;
  is_unwanted = 1;
}

static void copy_bytes(int from, int to) {
  for (ssize_t length; (length = read(from, block, COPY_BYTES)) != 0;) {
    if (is_unwanted) refuse(ECANCELED, ABOUT_PATH);
    need(length > 0, ABOUT_SOURCE);
    for (ssize_t done = 0, piece; done < length; done += piece) {
      piece = write(to, block + done, (size_t)(length - done));
      need(piece >= 0, ABOUT_PATH);
    }
  }
}

/* Copies one entry with its contents; symlinks stay symlinks. */
static void copy_entry(int from_dir, const char *from, int to_dir, const char *to) {
  struct stat st;
  if (is_unwanted) refuse(ECANCELED, ABOUT_PATH);
  need(fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) == 0, ABOUT_SOURCE);
  if (S_ISLNK(st.st_mode)) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(from_dir, from, target, sizeof target - 1);
    need(length >= 0, ABOUT_SOURCE);
    target[length] = 0;
    need(symlinkat(target, to_dir, to) == 0, ABOUT_PATH);
  } else if (S_ISDIR(st.st_mode)) {
    need(mkdirat(to_dir, to, 0700) == 0, ABOUT_PATH);
    int from_fd = openat(from_dir, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int to_fd = openat(to_dir, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = from_fd < 0 ? NULL : fdopendir(from_fd);
    need(dir != NULL && to_fd >= 0, ABOUT_SOURCE);
    for (struct dirent *entry; (entry = readdir(dir));)
      if (!is_dots(entry->d_name)) copy_entry(from_fd, entry->d_name, to_fd, entry->d_name);
    closedir(dir);
    close(to_fd);
  } else if (S_ISREG(st.st_mode)) {
    int from_fd = openat(from_dir, from, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    need(from_fd >= 0, ABOUT_SOURCE);
    int to_fd = openat(to_dir, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    need(to_fd >= 0, ABOUT_PATH);
    copy_bytes(from_fd, to_fd);
    close(from_fd);
    close(to_fd);
  } else {
    need(mknodat(to_dir, to, st.st_mode, st.st_rdev) == 0, ABOUT_PATH);
  }
  keep_rights(to_dir, to, &st);
}

/* Moves by copying, across mounts. The copy is made under a temporary name, so that half of it is never visible. */
static void move_by_copy(const char *from, const char *to, bool is_overwriting) {
  char draft[PATH_MAX];
  int length = snprintf(draft, sizeof draft, "%s.workcell-%d", to, (int)getpid());
  if (length < 0 || (size_t)length >= sizeof draft) refuse(ENAMETOOLONG, ABOUT_PATH);
  if (!faccessat(AT_FDCWD, draft, F_OK, AT_SYMLINK_NOFOLLOW)) refuse(EEXIST, ABOUT_PATH);
  signal(SIGTERM, note_unwanted);
  half_done = draft;
  copy_entry(AT_FDCWD, from, AT_FDCWD, draft);
  need(syscall(SYS_renameat2, AT_FDCWD, draft, AT_FDCWD, to, is_overwriting ? 0 : RENAME_NOREPLACE) == 0, ABOUT_PATH);
  half_done = NULL;
  remove_path(from, true, ABOUT_SOURCE);
}

static void move(struct reader *r) {
  bool is_overwriting = take(r, 1);
  const char *from = take_text(r);
  char *to = take_text(r);
  struct stat st;
  const char *name;
  need(fstatat(AT_FDCWD, from, &st, AT_SYMLINK_NOFOLLOW) == 0, ABOUT_SOURCE);
  if (!syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, is_overwriting ? 0 : RENAME_NOREPLACE)) succeed(NULL, 0);
  int error = errno;
  if (error == ENOENT && open_parent(to, &name) < 0) refuse(error, ABOUT_PARENT);
  if (error != EXDEV) refuse(error, ABOUT_PATH);
  move_by_copy(from, to, is_overwriting);
  succeed(NULL, 0);
}

void work_on_files(uint8_t op, struct reader *r) {
  static void (*const works[])(struct reader *) = {list,        stat_path,     read_file, write_file, make_dir,
                                                   remove_tree, change_rights, move,      walk,       read_many};
  works[op - LIST](r);
}
