/*
 * runt-pause connect NAMESPACE ADDRESS PORT: a TCP connection that begins in another network namespace, as stdin and stdout. It ends with the connection.
 * runt-pause forward NAMESPACE ADDRESS PORT: the same for a client of any kind: both directions go on by themselves, and the end of stdin is that of one of them.
 * runt-pause reach NAMESPACE ADDRESS PORT: ends with 0 as soon as there is one. Whoever starts it bounds its time.
 */
#define _GNU_SOURCE
#include "connect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int failed(const char *what, const char *where) {
  dprintf(STDERR_FILENO, "%s %s: %s\n", what, where, strerror(errno));
  return 1;
}

/* 0: it is no address. */
static socklen_t address_of(const char *text, uint16_t port, struct sockaddr_storage *address) {
  memset(address, 0, sizeof(*address));
  struct sockaddr_in *const v4 = (struct sockaddr_in *)address;
  struct sockaddr_in6 *const v6 = (struct sockaddr_in6 *)address;
  if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    return sizeof(*v4);
  }
  if (inet_pton(AF_INET6, text, &v6->sin6_addr) != 1) return 0;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  return sizeof(*v6);
}

static bool write_all(int fd, const char *bytes, ssize_t left) {
  while (left > 0) {
    const ssize_t done = write(fd, bytes, (size_t)left);
    if (done < 0) return false;
    bytes += done;
    left -= done;
  }
  return true;
}

static int relay(int connection) {
  static char bytes[65536];
  struct pollfd ends[] = {{.fd = connection, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
  for (;;) {
    if (poll(ends, 2, -1) < 0) return failed("poll", "");
    if (ends[1].revents != 0) {
      const ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
      if (count > 0 && !write_all(connection, bytes, count)) return failed("write to", "the connection");
      // The answer may still come: a server takes half a connection for one that was given up.
      if (count <= 0) ends[1].fd = -1;
    }
    if (ends[0].revents != 0) {
      const ssize_t count = read(connection, bytes, sizeof(bytes));
      if (count < 0) return failed("read from", "the connection");
      if (count == 0) return 0;
      if (!write_all(STDOUT_FILENO, bytes, count)) return failed("write to", "stdout");
    }
  }
}

/* Returns at the end of `from`; false: something is wrong. */
static bool copy_all(int from, int to) {
  static char bytes[65536];
  for (;;) {
    const ssize_t count = read(from, bytes, sizeof(bytes));
    if (count <= 0) return count == 0;
    if (!write_all(to, bytes, count)) return false;
  }
}

/* Each direction has a process: one of them that is full must not hold up the other, or two ends that both write first would wait for ever. */
static int forward(int connection) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return failed("fork", "");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const bool is_whole = copy_all(STDIN_FILENO, connection);
    shutdown(connection, SHUT_WR);
    _exit(is_whole ? 0 : 1);
  }
  const bool is_whole = copy_all(connection, STDOUT_FILENO);
  const int saved = errno;
  kill(child, SIGKILL);
  errno = saved;
  return is_whole ? 0 : failed("read from", "the connection");
}

int connect_in_namespace(const char *verb, const char *path, const char *address, const char *port) {
  const int space = open(path, O_RDONLY | O_CLOEXEC);
  if (space < 0 || setns(space, CLONE_NEWNET) != 0) return failed("enter", path);
  struct sockaddr_storage target;
  const socklen_t length = address_of(address, (uint16_t)strtoul(port, NULL, 10), &target);
  if (length == 0) {
    errno = EINVAL;
    return failed("connect to", address);
  }
  const int connection = socket(target.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, (struct sockaddr *)&target, length) != 0) return failed("connect to", address);
  if (strcmp(verb, "forward") == 0) return forward(connection);
  return strcmp(verb, "connect") == 0 ? relay(connection) : 0;
}
