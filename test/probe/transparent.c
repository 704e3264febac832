/* transparent PORT: answers each connection with the address and the port that it was made to, whoever has them. Needs CAP_NET_ADMIN. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const int one = 1;
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0"))};
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (setsockopt(listener, IPPROTO_IP, IP_TRANSPARENT, &one, sizeof(one)) != 0) return perror("IP_TRANSPARENT"), 1;
  if (bind(listener, (struct sockaddr *)&own, sizeof(own)) != 0 || listen(listener, 8) != 0) return perror("listen"), 1;
  puts("up");
  fflush(stdout);
  for (;;) {
    const int connection = accept(listener, NULL, NULL);
    struct sockaddr_in target;
    socklen_t length = sizeof(target);
    if (connection < 0 || getsockname(connection, (struct sockaddr *)&target, &length) != 0) continue;
    dprintf(connection, "%s:%d\n", inet_ntoa(target.sin_addr), ntohs(target.sin_port));
    close(connection);
  }
}
