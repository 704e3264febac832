/*
 * A server of HTTP that ends as well-behaved ones do: server NAME PORT answers each request, and each datagram at the same port, with NAME. At SIGTERM it stops to listen. It
 * goes on with the connections that it has, says "Connection: close" in each answer, and ends when it has none left, or after 15 seconds.
 *
 * Further words make it do what servers should not: exit=MS: it ends itself with 7 after this time. errors=MS: from then on each answer has the status 500. silent: it runs, and
 * does not listen at PORT. mark=FILE: a file whose name begins like that is there while it takes connections.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 1000
#define GRACE_MS 15000

static volatile sig_atomic_t is_ending;
static bool is_failing;

static void end(int signal) {
  (void)signal;
  is_ending = 1;
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static int listening(int type, int port) {
  const int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || (type == SOCK_STREAM && listen(fd, 1024) < 0)) {
    perror("listen");
    exit(1);
  }
  return fd;
}

/* The end of the last request that has come; what comes before it is of no interest. Returns false if the connection is over. */
static bool serve(int fd, char *tail, const char *name) {
  char bytes[4096];
  const ssize_t count = read(fd, bytes, sizeof(bytes));
  if (count <= 0) return false;
  for (ssize_t at = 0; at < count; at++) {
    memmove(tail, tail + 1, 3);
    tail[3] = bytes[at];
    if (memcmp(tail, "\r\n\r\n", 4) != 0) continue;
    char text[512];
    const int length = snprintf(text, sizeof(text), "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: %s\r\n\r\n%s\n",
                                is_failing ? "500 Internal Server Error" : "200 OK", strlen(name) + 1, is_ending ? "close" : "keep-alive",
                                name);
    if (write(fd, text, (size_t)length) != length || is_ending) return false;
  }
  return true;
}

static const char *value_of(const char *word, const char *name) {
  const size_t length = strlen(name);
  return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  static struct pollfd all[MOST];
  static char tails[MOST][4];
  char mark[256] = "";
  long long exits = 0, fails = 0;
  bool is_silent = false;
  for (int at = 3; at < argc; at++) {
    const char *const exit_ms = value_of(argv[at], "exit"), *const errors_ms = value_of(argv[at], "errors"), *const file = value_of(argv[at], "mark");
    if (exit_ms != NULL) exits = now() + atoll(exit_ms);
    else if (errors_ms != NULL) fails = now() + atoll(errors_ms);
    else if (file != NULL) snprintf(mark, sizeof(mark), "%s.%lld", file, now());
    else if (strcmp(argv[at], "silent") == 0) is_silent = true;
    else return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, end);
  const int port = is_silent ? 0 : atoi(argv[2]);
  all[0] = (struct pollfd){.fd = listening(SOCK_STREAM, port), .events = POLLIN};
  all[1] = (struct pollfd){.fd = listening(SOCK_DGRAM, port), .events = POLLIN};
  nfds_t count = 2;
  long long ended = 0;
  if (mark[0] != '\0') close(open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  puts("up");
  fflush(stdout);
  for (;;) {
    poll(all, count, 20);
    if (exits != 0 && now() > exits) return 7;
    is_failing = fails != 0 && now() > fails;
    if (ended != 0 && (now() > ended + GRACE_MS || count == 2)) return 0;
    for (nfds_t at = count; at-- > 2;) {
      if (all[at].revents == 0) continue;
      if (serve(all[at].fd, tails[at], argv[1])) continue;
      close(all[at].fd);
      count--;
      all[at] = all[count];
      memcpy(tails[at], tails[count], 4);
    }
    if (all[1].revents != 0) {
      struct sockaddr_in from;
      socklen_t length = sizeof(from);
      char bytes[1024];
      if (recvfrom(all[1].fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &length) >= 0)
        sendto(all[1].fd, argv[1], strlen(argv[1]), 0, (const struct sockaddr *)&from, length);
    }
    if (is_ending && mark[0] != '\0') {
      unlink(mark);
      mark[0] = '\0';
    }
    while (count < MOST) {
      const int fd = accept4(all[0].fd, NULL, NULL, SOCK_NONBLOCK);
      if (fd < 0) break;
      memset(tails[count], 0, 4);
      all[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    if (!is_ending || ended != 0) continue;
    ended = now();
    close(all[0].fd);
    all[0].fd = -1;
  }
}
