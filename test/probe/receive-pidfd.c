// The caller's side of --pidfd-socket: listens on a path, takes one message, and says what came: "fds=N payload=TEXT pid=PID" (the
// pid that the pidfd is of), then "ended" once that process has ended. Usage: receive-pidfd SOCKET
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int pid_of(int fd)
{
    char path[64], line[256];
    int pid = -2;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Pid: %d", &pid);
    if (file)
        fclose(file);
    return pid;
}

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
    int peer = accept(listener, NULL, NULL), fds[16], count = 0;
    char payload[256] = "", control[256];
    struct iovec io = {payload, sizeof payload - 1};
    struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    recvmsg(peer, &message, MSG_CMSG_CLOEXEC);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_type == SCM_RIGHTS) {
            count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(fds, CMSG_DATA(c), (size_t)count * sizeof(int));
        }
    printf("fds=%d payload=%s pid=%d\n", count, payload, count ? pid_of(fds[0]) : 0);
    fflush(stdout);
    struct pollfd row = {.fd = count ? fds[0] : -1, .events = POLLIN};
    if (poll(&row, 1, 10000) == 1)
        puts("ended");
    return 0;
}
