// Gives a program a terminal: terminal ROWS COLUMNS PROGRAM [ARG]...
// Its stdio is a new pty of this size; stdin is copied into it, what it shows goes to stdout. When the program has ended, one
// line tells whether the terminal was left as it was: "\nterminal: same" or "\nterminal: changed".
// A line "@ROWS COLUMNS" on stdin changes the size instead of being typed.
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

static void type(int master, char *text, ssize_t size) {
  struct winsize window = {0};
  text[size] = 0;
  if (sscanf(text, "@%hu %hu", &window.ws_row, &window.ws_col) == 2) ioctl(master, TIOCSWINSZ, &window);
  else if (write(master, text, (size_t)size) != size) perror("terminal");
}

int main(int count, char **arguments) {
  int master, slave, status;
  struct termios before, after;
  if (count < 4) return 99;
  struct winsize window = {.ws_row = (unsigned short)atoi(arguments[1]), .ws_col = (unsigned short)atoi(arguments[2])};
  if (openpty(&master, &slave, NULL, NULL, &window) < 0) return 99;
  tcgetattr(slave, &before);
  pid_t child = fork();
  if (child == 0) {
    close(master);
    login_tty(slave);
    execv(arguments[3], arguments + 3);
    _exit(99);
  }
  struct pollfd rows[2] = {{.fd = 0, .events = POLLIN}, {.fd = master, .events = POLLIN}};
  char text[4097];
  while (waitpid(child, &status, WNOHANG) == 0) {
    poll(rows, 2, 20);
    if (rows[0].revents != 0) {
      ssize_t size = read(0, text, sizeof text - 1);
      if (size > 0) type(master, text, size);
      else rows[0].fd = -1;
    }
    if (rows[1].revents & POLLIN) {
      ssize_t size = read(master, text, sizeof text - 1);
      if (size > 0 && write(1, text, (size_t)size) != size) break;
    }
  }
  while (poll(rows + 1, 1, 0) > 0 && (rows[1].revents & POLLIN)) {
    ssize_t size = read(master, text, sizeof text - 1);
    if (size <= 0 || write(1, text, (size_t)size) != size) break;
  }
  tcgetattr(slave, &after);
  printf("\nterminal: %s\n", memcmp(&before, &after, sizeof before) == 0 ? "same" : "changed");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
