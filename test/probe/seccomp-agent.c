// A seccomp agent (linux.seccomp.listenerPath): listen on a path, print the state that comes with each listener, and answer its
// notifications: mkdir and mkdirat fail with EDQUOT, everything else goes on.
// Usage: seccomp-agent SOCKET [--hold]; prints "listening", then a connection's lines: "what KIND", which is what the first descriptor is,
// "fds=N STATE", and "closed" when the peer has no more to say, or "more". --hold: no answer to a notification before standard input ends,
// after a line "held".
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

// linux/seccomp.h; musl brings no kernel headers.
struct seccomp_data {
    int nr;
    uint32_t arch;
    uint64_t instruction_pointer;
    uint64_t args[6];
};
struct seccomp_notif {
    uint64_t id;
    uint32_t pid, flags;
    struct seccomp_data data;
};
struct seccomp_notif_resp {
    uint64_t id;
    int64_t val;
    int32_t error;
    uint32_t flags;
};
#define NOTIF_RECV _IOWR('!', 0, struct seccomp_notif)
#define NOTIF_SEND _IOWR('!', 1, struct seccomp_notif_resp)
#define FLAG_CONTINUE 1u

static void answer(int listener, int hold)
{
    for (;;) {
        struct pollfd wait = {.fd = listener, .events = POLLIN};
        if (poll(&wait, 1, -1) < 0 || !(wait.revents & POLLIN))
            return;
        struct seccomp_notif request;
        memset(&request, 0, sizeof request);
        if (ioctl(listener, NOTIF_RECV, &request) < 0)
            continue;
        if (hold) {
            char byte;
            puts("held");
            fflush(stdout);
            while (read(0, &byte, 1) > 0)
                ;
        }
        struct seccomp_notif_resp response = {.id = request.id, .flags = FLAG_CONTINUE};
#ifdef SYS_mkdir
        if (request.data.nr == SYS_mkdir)
            response = (struct seccomp_notif_resp){.id = request.id, .error = -EDQUOT};
#endif
        if (request.data.nr == SYS_mkdirat)
            response = (struct seccomp_notif_resp){.id = request.id, .error = -EDQUOT};
        ioctl(listener, NOTIF_SEND, &response);
    }
}

static void serve(int peer, int hold)
{
    static char state[65536], control[256];
    struct iovec io = {state, sizeof state - 1};
    struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(peer, &message, 0);
    int fds[16], count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(fds, CMSG_DATA(c), (size_t)count * sizeof(int));
        }
    for (char *c = state; *c; c++)
        if (*c == '\n')
            *c = ' ';
    char link[64] = "", what[128] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", count > 0 ? fds[0] : -1);
    if (readlink(link, what, sizeof what - 1) < 0)
        strcpy(what, "nothing");
    printf("what %s\nfds=%d %.*s\n", what, count, got > 0 ? (int)got : 0, state);
    fflush(stdout);
    // Some close only when they end, which may be after an answer.
    if (fork() == 0) {
        char more;
        puts(recv(peer, &more, 1, 0) == 0 ? "closed" : "more");
        return;
    }
    if (count == 1)
        answer(fds[0], hold);
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc < 2 || strlen(argv[1]) >= sizeof address.sun_path)
        return 2;
    strcpy(address.sun_path, argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 8))
        return 3;
    puts("listening");
    fflush(stdout);
    for (;;) {
        int peer = accept(listener, NULL, NULL);
        if (peer < 0)
            return 4;
        if (fork() == 0) {
            close(listener);
            serve(peer, argc > 2 && !strcmp(argv[2], "--hold"));
            return 0;
        }
        close(peer);
    }
}
