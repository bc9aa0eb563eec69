/*
 * Starts QEMU in the jail when the daemon allows it: start-gate FD PROGRAM ARGUMENTS...
 *
 * The program starts only after the daemon wrote a byte to the descriptor, which it does when the process is within its
 * limits, and only while the daemon has the other end open. A daemon that ended in between killed the jail, perhaps
 * before the prctl below; its signal would then never come, and the program would outlive both.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char word;
  if (argc < 3 || prctl(PR_SET_PDEATHSIG, SIGKILL)) return 1;
  int gate = atoi(argv[1]);
  if (read(gate, &word, 1) != 1) return 1;
  struct pollfd end = {.fd = gate, .events = POLLIN};
  if (poll(&end, 1, 0)) return 1;
  close(gate);
  execv(argv[2], argv + 2);
  return 127;
}
