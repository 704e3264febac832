// Plays the runtime before a monitor: watch [--terminal] MONITOR INIT... -- DELETE_EXECUTABLE [--state DIRECTORY] [STEP]... -- [DELETE_ARGV]...
// What is an argument of `--state` gets its descriptor before it, and what is one of `--record` (made if it is not there) behind its text.
// Starts INIT as a child (with a new pty as its stdio if --terminal) and becomes `MONITOR monitor ...` by execve.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

static char *descriptor_of(const char *path, int flags) {
  char *text = malloc(16);
  snprintf(text, 16, "%d", open(path, flags, 0600));
  return text;
}

int main(int count, char **arguments) {
  int terminal = count > 1 && strcmp(arguments[1], "--terminal") == 0, master = -1, init_at = 2 + terminal, at = init_at;
  char numbers[4][16];
  sigset_t all, none;
  while (at < count && strcmp(arguments[at], "--") != 0) at++;
  if (at + 1 >= count) return 99;
  arguments[at] = NULL;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &all, NULL);
  pid_t init = terminal ? forkpty(&master, NULL, NULL, NULL) : fork();
  if (terminal && init == 0) {
    // As console.open does for an own terminal.
    struct termios mode;
    tcgetattr(0, &mode);
    mode.c_oflag &= ~(tcflag_t)ONLCR;
    tcsetattr(0, TCSANOW, &mode);
  }
  if (init == 0) {
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(arguments[init_at], arguments + init_at);
    perror(arguments[init_at]);
    _exit(99);
  }
  snprintf(numbers[0], sizeof numbers[0], "%d", init);
  int pidfd = (int)syscall(SYS_pidfd_open, init, 0), executable = open(arguments[at + 1], O_PATH);
  fcntl(pidfd, F_SETFD, 0);
  snprintf(numbers[1], sizeof numbers[1], "%d", pidfd);
  snprintf(numbers[2], sizeof numbers[2], "%d", master);
  snprintf(numbers[3], sizeof numbers[3], "%d", executable);
  char *command[64] = {arguments[1 + terminal], "monitor", "--init", numbers[0], "--pidfd", numbers[1], "--executable", numbers[3], "--console", numbers[2]};
  int words = terminal ? 10 : 8;
  for (int i = at + 2; i < count && words < 62; i++) {
    command[words++] = arguments[i];
    if (strcmp(arguments[i], "--state") == 0) {
      command[words++] = descriptor_of(arguments[i + 1], O_RDONLY | O_DIRECTORY);
      command[words++] = "--state-path";
    }
    if (strcmp(arguments[i], "--record-fd") == 0) command[words++] = descriptor_of(arguments[++i], O_WRONLY | O_CREAT);
  }
  execv(command[0], command);
  perror(command[0]);
  return 99;
}
