/*
 * Takes what the kernel counts for a user until it is refused: inotify instances, timers, message queues; as root and as
 * other users if it can become them. Prints how much of each it had, and holds it: `exhaust hold`. Or takes at most the
 * given number of each, in that order, and ends: `exhaust 48 40000 30`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { USERS = 40 };

static long most[3] = {100000, 200000, 10000};

static long count_instances(void) {
  long count = 0;
  while (count < most[0] && inotify_init1(0) >= 0) count++;
  return count;
}

static long count_timers(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  timer_t timer;
  long count = 0;
  while (count < most[1] && !timer_create(CLOCK_MONOTONIC, &event, &timer)) count++;
  return count;
}

static long count_queues(int child) {
  struct mq_attr size = {.mq_maxmsg = 10, .mq_msgsize = 1024};
  long count = 0;
  for (char name[64]; count < most[2]; count++) {
    snprintf(name, sizeof name, "/exhaust-%d-%d-%ld", (int)getpid(), child, count);
    if (mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &size) == (mqd_t)-1) break;
    mq_unlink(name);
  }
  return count;
}

int main(int argc, char **argv) {
  int is_holding = argc > 1 && !strcmp(argv[1], "hold");
  long counts[3] = {0};
  struct rlimit files;
  for (int i = 0; i < 3 && argc == 4; i++) most[i] = atol(argv[i + 1]);
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  for (int user = 0; user < (is_holding ? USERS : 1); user++) {
    int report[2];
    long mine[3];
    if (pipe(report)) return 1;
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (user && setuid((uid_t)user)) _exit(0);
      mine[0] = count_instances(), mine[1] = count_timers(), mine[2] = count_queues(user);
      if (write(report[1], mine, sizeof mine) < 0) _exit(1);
      if (is_holding)
        for (;;) pause();
      _exit(0);
    }
    close(report[1]);
    if (read(report[0], mine, sizeof mine) == sizeof mine)
      for (int i = 0; i < 3; i++) counts[i] += mine[i];
    close(report[0]);
  }
  printf("inotify %ld timers %ld queues %ld\n", counts[0], counts[1], counts[2]);
  fflush(stdout);
  for (; is_holding;) pause();
  return 0;
}
