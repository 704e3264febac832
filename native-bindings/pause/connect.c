/*
 * runt-pause connect NAMESPACE ADDRESS PORT: a TCP connection that begins in another network namespace, as stdin and stdout. It ends with the connection.
 * runt-pause forward NAMESPACE ADDRESS PORT: the same for a client of any kind: both directions go on by themselves, and the end of stdin is that of one of them.
 * runt-pause reach NAMESPACE ADDRESS PORT: ends with 0 as soon as there is one. Whoever starts it bounds its time.
 * NAMESPACE is the path of one, or "-": the one that the program is started in, as in a virtual machine, which has no other and gives no right to enter one.
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

/* One direction. */
struct way {
  int from; /* -1: it has ended */
  int to;
  size_t start; /* of what is to be written */
  size_t end;
  char bytes[65536];
};

/* PIPE_BUF: so much goes into a pipe that poll(2) says can be written to, without a wait. */
static const size_t MOST = 4096;

static ssize_t write_some(struct way *way) {
  const size_t left = way->end - way->start;
  const ssize_t count = write(way->to, way->bytes + way->start, left < MOST ? left : MOST);
  if (count > 0) way->start += (size_t)count;
  return count;
}

static ssize_t read_some(struct way *way) {
  const ssize_t count = read(way->from, way->bytes, sizeof(way->bytes));
  way->start = 0;
  way->end = count > 0 ? (size_t)count : 0;
  return count;
}

/* Until the connection ends. Neither direction holds up the other, or two ends that both write first would wait for ever. There is no second process: in a container it
 * would be left to a first process that may wait for none. */
static int relay(int connection, bool ends_input) {
  static struct way in, out;
  in.from = STDIN_FILENO;
  in.to = out.from = connection;
  out.to = STDOUT_FILENO;
  signal(SIGPIPE, SIG_IGN);
  for (;;) {
    const bool is_sending = in.start < in.end;
    const bool is_giving = out.start < out.end;
    struct pollfd ends[] = {
        {.fd = is_sending ? in.to : in.from, .events = is_sending ? POLLOUT : POLLIN},
        {.fd = is_giving ? out.to : out.from, .events = is_giving ? POLLOUT : POLLIN},
    };
    if (poll(ends, 2, -1) < 0) return failed("poll", "");
    if (ends[0].revents != 0 && (is_sending ? write_some(&in) < 0 : read_some(&in) <= 0)) {
      // What the other side still sends is read: its answer may come after the last byte for it.
      in.from = -1;
      in.start = in.end;
      if (ends_input) shutdown(connection, SHUT_WR);
    }
    if (ends[1].revents == 0) continue;
    if (is_giving && write_some(&out) < 0) return failed("write to", "stdout");
    if (is_giving) continue;
    const ssize_t count = read_some(&out);
    if (count <= 0) return count == 0 ? 0 : failed("read from", "the connection");
  }
}

int connect_in_namespace(const char *verb, const char *path, const char *address, const char *port) {
  if (strcmp(path, "-") != 0) {
    const int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0) return failed("enter", path);
  }
  struct sockaddr_storage target;
  const socklen_t length = address_of(address, (uint16_t)strtoul(port, NULL, 10), &target);
  if (length == 0) {
    errno = EINVAL;
    return failed("connect to", address);
  }
  const int connection = socket(target.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, (struct sockaddr *)&target, length) != 0) return failed("connect to", address);
  if (strcmp(verb, "reach") == 0) return 0;
  return relay(connection, strcmp(verb, "forward") == 0);
}
