// Plays the runtime that waits for a container to be ready: announce HELPER PROGRAM... starts PROGRAM with NOTIFY_SOCKET as init would
// be, becomes the service manager, and lets `HELPER notify ...` wait. Says what the manager hears, "PID" for init's pid, then the status.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int bound(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  return bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -1 : fd;
}

static void say(char *text, ssize_t size, pid_t init) {
  char number[16];
  text[size] = 0;
  snprintf(number, sizeof number, "%d", init);
  char *at = strstr(text, number);
  if (at != NULL) printf("%.*sPID%s", (int)(at - text), text, at + strlen(number));
  else printf("%s", text);
  printf("|\n");
}

int main(int count, char **arguments) {
  char directory[] = "/tmp/runt-announce-XXXXXX", inside[64], outside[64], numbers[4][16], text[4096];
  if (count < 3 || mkdtemp(directory) == NULL) return 99;
  snprintf(inside, sizeof inside, "%s/container", directory);
  snprintf(outside, sizeof outside, "%s/manager", directory);
  int container = bound(inside), manager = bound(outside), caller = socket(AF_UNIX, SOCK_DGRAM, 0), status;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", outside);
  if (connect(caller, (struct sockaddr *)&address, sizeof address) < 0) return 99;
  pid_t init = fork();
  if (init == 0) {
    setenv("NOTIFY_SOCKET", inside, 1);
    execv(arguments[2], arguments + 2);
    _exit(99);
  }
  int pidfd = (int)syscall(SYS_pidfd_open, init, 0);
  fcntl(pidfd, F_SETFD, 0);
  pid_t waiter = fork();
  if (waiter == 0) {
    const int values[] = {container, caller, pidfd, init};
    for (int i = 0; i < 4; i++) snprintf(numbers[i], sizeof numbers[i], "%d", values[i]);
    execl(arguments[1], "runt-init", "notify", numbers[0], numbers[1], numbers[2], numbers[3], NULL);
    _exit(99);
  }
  for (int ended = 0; !ended;) {
    ended = waitpid(waiter, &status, WNOHANG) == waiter;
    struct timeval patience = {0, 20000};
    setsockopt(manager, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    // Without room for it a descriptor is closed on arrival, as a manager closes that of a barrier.
    for (ssize_t size; (size = recv(manager, text, sizeof text - 1, 0)) > 0;) say(text, size, init);
  }
  kill(init, 9);
  waitpid(init, NULL, 0);
  unlink(inside);
  unlink(outside);
  rmdir(directory);
  printf("status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}
