/*
 * Talks over TCP and UDP. `dial serve ADDRESS:PORT...` answers everybody with the protocol and the address it was asked from; before a datagram is answered, another socket sends one
 * that nobody has asked for. `dial tcp:ADDRESS:PORT udp:ADDRESS:PORT...` prints the answer of each, or the number of its error.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static struct sockaddr_in address_of(const char *text) {
  char host[32] = "";
  int port = 0;
  if (sscanf(text, "%31[^:]:%d", host, &port) != 2) exit(2);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, host, &address.sin_addr) != 1) exit(2);
  return address;
}

static int listening(int type, struct sockaddr_in address) {
  int on = 1;
  int fd = socket(AF_INET, type, 0);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || (type == SOCK_STREAM && listen(fd, 64) != 0)) {
    perror("listen");
    exit(1);
  }
  return fd;
}

static void serve_tcp(int fd) {
  for (;;) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    int one = accept(fd, (struct sockaddr *)&peer, &size);
    if (one < 0) continue;
    dprintf(one, "tcp from %s", inet_ntoa(peer.sin_addr));
    close(one);
  }
}

static void serve_udp(int fd, struct sockaddr_in address) {
  address.sin_port = 0;
  int stranger = listening(SOCK_DGRAM, address);
  for (;;) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    char text[64];
    if (recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&peer, &size) < 0) continue;
    sendto(stranger, "stranger", 8, 0, (struct sockaddr *)&peer, size);
    int length = snprintf(text, sizeof text, "udp from %s port %d", inet_ntoa(peer.sin_addr), ntohs(peer.sin_port));
    sendto(fd, text, length, 0, (struct sockaddr *)&peer, size);
  }
}

static void dial(const char *target) {
  int type = strncmp(target, "tcp:", 4) == 0 ? SOCK_STREAM : SOCK_DGRAM;
  struct sockaddr_in address = address_of(target + 4);
  struct timeval most = {.tv_sec = 5};
  char text[64];
  int fd = socket(AF_INET, type, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  ssize_t count = -1;
  if (type == SOCK_STREAM) {
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) count = recv(fd, text, sizeof text, 0);
  } else {
    int on = 1;
    // An error that comes back is seen without a connected socket, which would not see a stranger.
    setsockopt(fd, IPPROTO_IP, 11 /* IP_RECVERR */, &on, sizeof on);
    if (sendto(fd, "?", 1, 0, (struct sockaddr *)&address, sizeof address) == 1) count = recv(fd, text, sizeof text, 0);
  }
  if (count < 0)
    printf("%s error %d\n", target, errno);
  else
    printf("%s %.*s\n", target, (int)count, text);
  fflush(stdout);
  close(fd);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "serve") != 0) {
    for (int at = 1; at < argc; at++) dial(argv[at]);
    return 0;
  }
  for (int at = 2; at < argc; at++) {
    struct sockaddr_in address = address_of(argv[at]);
    int tcp = listening(SOCK_STREAM, address);
    int udp = listening(SOCK_DGRAM, address);
    if (fork() == 0) serve_tcp(tcp);
    if (fork() == 0) serve_udp(udp, address);
    close(tcp);
    close(udp);
  }
  puts("ready");
  fflush(stdout);
  pause();
  return 0;
}
