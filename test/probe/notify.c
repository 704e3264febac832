// Both ends of sd_notify(3). Usage:
//   notify TEXT...        sends each text to $NOTIFY_SOCKET, \n in it as a newline; says what failed
//   notify --listen PATH  the service manager's side: binds PATH (or @NAME), says "listening", then a line for every message, with its
//                         newlines as \n and "fds=N" if descriptors came with it; closes them, and ends after BARRIER=1
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static socklen_t set_address(const char *path)
{
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path)
        exit(2);
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] != '@'));
}

static int listen_at(const char *path)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (bind(fd, (struct sockaddr *)&address, set_address(path)))
        return 3;
    puts("listening");
    fflush(stdout);
    for (;;) {
        char text[4096], control[256];
        struct iovec io = {text, sizeof text - 1};
        struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        ssize_t size = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
        if (size < 0)
            return 4;
        text[size] = 0;
        int fds = 0;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
            for (; c->cmsg_type == SCM_RIGHTS && CMSG_LEN(sizeof(int) * (size_t)(fds + 1)) <= c->cmsg_len; fds++)
                close(((int *)CMSG_DATA(c))[fds]);
        for (char *at = text; *at; at++)
            *at == '\n' ? printf("\\n") : putchar(*at);
        if (fds > 0)
            printf(" fds=%d", fds);
        putchar('\n');
        fflush(stdout);
        if (strncmp(text, "BARRIER=1", 9) == 0)
            return 0;
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--listen") == 0)
        return listen_at(argv[2]);
    const char *path = getenv("NOTIFY_SOCKET");
    if (!path)
        return fprintf(stderr, "no NOTIFY_SOCKET\n"), 5;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    socklen_t length = set_address(path);
    for (int i = 1; i < argc; i++) {
        char text[4096];
        size_t size = 0;
        for (const char *at = argv[i]; *at && size < sizeof text; at++)
            text[size++] = at[0] == '\\' && at[1] == 'n' ? (at++, '\n') : *at;
        if (sendto(fd, text, size, 0, (struct sockaddr *)&address, length) < 0)
            return fprintf(stderr, "%s: %s\n", path, strerror(errno)), 6;
    }
    return 0;
}
