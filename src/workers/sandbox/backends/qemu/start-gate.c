/*
 * Stands between the jail and QEMU: start-gate FD PROGRAM ARGUMENTS...
 *
 * It lets the program start only when whoever started the jail says so on the descriptor, which is not before the process is
 * in its limits. One that died before has closed it, and nothing starts. One that dies later takes the jail with it, and the
 * jail the program: by then the kernel knows what to do.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char word;
  if (argc < 3 || prctl(PR_SET_PDEATHSIG, SIGKILL)) return 1;
  int gate = atoi(argv[1]);
  if (read(gate, &word, 1) != 1) return 1;
  close(gate);
  execv(argv[2], argv + 2);
  return 127;
}
