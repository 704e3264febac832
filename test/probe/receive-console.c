// The engine's side of --console-socket: listen on a path, take one connection and one message, and say what came.
// Usage: receive-console SOCKET; prints "fds=N payload=TEXT terminal=yes|no more=yes|no", then copies the terminal to stdout.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc < 2 || strlen(argv[1]) >= sizeof address.sun_path)
        return 2;
    strcpy(address.sun_path, argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1))
        return 3;
    puts("listening");
    fflush(stdout);
    int peer = accept(listener, NULL, NULL);
    char payload[4096] = "", control[256] = "";
    struct iovec io = {payload, sizeof payload - 1};
    struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(peer, &message, 0);
    int fds[16], count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(fds, CMSG_DATA(c), (size_t)count * sizeof(int));
        }
    char more;
    printf("fds=%d payload=%.*s terminal=%s more=%s\n", count, got > 0 ? (int)got : 0, payload, count && isatty(fds[0]) ? "yes" : "no",
           recv(peer, &more, 1, 0) > 0 ? "yes" : "no");
    fflush(stdout);
    ssize_t length;
    char text[4096];
    while (count && (length = read(fds[0], text, sizeof text)) > 0)
        if (write(1, text, (size_t)length) < 0)
            break;
    return 0;
}
