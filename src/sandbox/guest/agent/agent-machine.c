/* Personalizes a machine that was cloned from another: sets the time, the hostname, and fresh entropy. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "agent-loop.h"

/* Number from linux/random.h, which not every C library has. */
#define ADD_ENTROPY _IOW('R', 3, int[2])
#define RESEED _IO('R', 7)

void set_clock(uint32_t id, struct reader *r) {
  uint64_t ns = take(r, 8);
  struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  if (r->is_broken || clock_settime(CLOCK_REALTIME, &time)) send_fail(id, r->is_broken ? EBADMSG : (uint32_t)errno, 0);
  else send_frame(id, DONE, NULL, 0);
}

void add_entropy(uint32_t id, struct reader *r) {
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

/* The usual path. An existing entry of an image is removed and not followed; an image without /etc needs none. */
static bool write_machine_id(const char *id) {
  static const char PATH[] = "/etc/machine-id";
  unlink(PATH);
  int fd = open(PATH, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR;
  size_t length = strlen(id);
  bool is_written = write(fd, id, length) == (ssize_t)length && write(fd, "\n", 1) == 1;
  close(fd);
  return is_written;
}

void set_hostname(uint32_t id, struct reader *r) {
  char *name = take_text(r), *machine_id = take_text(r);
  bool is_done = !r->is_broken && !sethostname(name, strlen(name)) && write_machine_id(machine_id);
  if (is_done) send_frame(id, DONE, NULL, 0);
  else send_fail(id, r->is_broken ? EBADMSG : (uint32_t)errno, 0);
}
