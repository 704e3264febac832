// A stream socket that nobody can connect to any more: its queue is full, and nothing is accepted. Says "full" and waits for the end of stdin.
// Usage: full-socket PATH
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (argc != 2)
        return 2;
    strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 0))
        return 3;
    int connected;
    do
        connected = connect(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), (struct sockaddr *)&address, sizeof address);
    while (connected == 0);
    if (errno != EAGAIN)
        return 4;
    puts("full");
    fflush(stdout);
    char byte;
    return read(0, &byte, 1) != 0;
}
