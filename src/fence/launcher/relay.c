/*
 * Connects the network namespace to the egress proxy: listens on a loopback port, and forwards each connection to a
 * socket of the server. It also ends the holder, when standard input ends or the builder fails.
 */
#define _GNU_SOURCE
#include "fence.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* One process for each connection. */
enum { PORT = 3128, MOST_CONNECTIONS = 128, PIECE = 65536 };

static int listen_on_loopback(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on)) stop("cannot make the proxy's port");
  if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 128)) stop("cannot listen on the proxy's port");
  return fd;
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (snprintf(address.sun_path, sizeof address.sun_path, "%s", path) >= (int)sizeof address.sun_path) return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) return -1;
  return fd;
}

/* Copies once from one end to the other; false when this direction has ended. */
static bool carry(int from, int to) {
  static char piece[PIECE];
  ssize_t length = read(from, piece, sizeof piece);
  if (length < 0 && errno == EINTR) return true;
  for (ssize_t at = 0, written; at < length; at += written) {
    written = write(to, piece + at, (size_t)(length - at));
    if (written < 0 && errno == EINTR) written = 0;
    if (written < 0) _exit(0);
  }
  if (length > 0) return true;
  shutdown(to, SHUT_WR);
  return false;
}

static _Noreturn void forward(int inside, const char *path) {
  int outside = connect_to(path);
  if (outside < 0) _exit(1);
  struct pollfd ends[] = {{.fd = inside, .events = POLLIN}, {.fd = outside, .events = POLLIN}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends, 2, -1) < 0 && errno != EINTR) _exit(1);
    if (ends[0].fd >= 0 && ends[0].revents && !carry(inside, outside)) ends[0].fd = -1;
    if (ends[1].fd >= 0 && ends[1].revents && !carry(outside, inside)) ends[1].fd = -1;
  }
  _exit(0);
}

static void ignore_signal(int signal) {
  (void)signal;
}

void relay(const char *path) {
  int port = path ? listen_on_loopback() : -1, count = 0;
  struct sigaction quiet = {.sa_handler = ignore_signal};
  sigset_t all, none;
  signal(SIGPIPE, SIG_IGN);
  /* Delivered during the wait only, so that the end of a child is never missed. */
  sigaction(SIGCHLD, &quiet, NULL);
  sigemptyset(&none);
  sigemptyset(&all);
  sigaddset(&all, SIGCHLD);
  sigprocmask(SIG_BLOCK, &all, NULL);
  for (;;) {
    for (pid_t ended; (ended = waitpid(-1, NULL, WNOHANG)) != 0; count--)
      if (ended < 0) _exit(126);
    struct pollfd watched[] = {{.fd = 0, .events = POLLIN}, {.fd = count < MOST_CONNECTIONS ? port : -1, .events = POLLIN}};
    if (ppoll(watched, 2, NULL, &none) < 0) continue;
    char byte;
    if (watched[0].revents && read(0, &byte, 1) <= 0) _exit(0);
    if (!(watched[1].revents & POLLIN)) continue;
    int connection = accept4(port, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) continue;
    pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(port);
      close(0);
      sigprocmask(SIG_SETMASK, &none, NULL);
      forward(connection, path);
    }
    count += child > 0;
    close(connection);
  }
}
