/* unixserve PATH: listens on a unix stream socket and writes what each client sends to stdout, one client after the other. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  char buffer[4096];
  if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path)) return 2;
  strcpy(address.sun_path, argv[1]);
  if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(listener, 8) != 0) return perror(argv[1]), 1;
  for (;;) {
    const int client = accept(listener, NULL, NULL);
    ssize_t count;
    while ((count = read(client, buffer, sizeof(buffer))) > 0)
      if (write(STDOUT_FILENO, buffer, (size_t)count) != count) return 1;
    close(client);
  }
}
