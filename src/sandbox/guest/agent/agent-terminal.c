/*
 * The terminal of a command: the agent reads and writes its master as it does pipes; the command has its other side as
 * its controlling terminal. Also the signals for a command, which without a terminal are the only keys it has.
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

/* Where its user and its size are in a request. */
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

void resize_terminal(struct stream *s, struct reader *r) {
  uint16_t rows = (uint16_t)take(r, 2), columns = (uint16_t)take(r, 2);
  if (!r->is_broken && s->is_terminal && s->out[0] >= 0) set_size(s->out[0], rows, columns);
}

/* Only while the command runs: later its number may be that of another process. */
void signal_command(struct stream *s, struct reader *r) {
  int number = (int)take(r, 1);
  if (!r->is_broken && s->op == EXEC && s->command > 0 && s->answer_fd >= 0) kill(-s->command, number);
}
