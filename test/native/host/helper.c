/* Stands in for runt-init in the test of the host module: says how it was started. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void send_message(int fd, unsigned type, int value, const char *path, const char *text, int descriptor) {
    unsigned char buffer[4096];
    unsigned header[6] = { type, 42, 13, (unsigned)value, (unsigned)strlen(path), (unsigned)strlen(text) };
    memcpy(buffer, header, sizeof(header));
    memcpy(buffer + sizeof(header), path, header[4]);
    memcpy(buffer + sizeof(header) + header[4], text, header[5]);
    struct iovec part = { buffer, sizeof(header) + header[4] + header[5] };
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
    }
    if (sendmsg(fd, &message, 0) < 0) _exit(90);
}

/* One line about this process: open descriptors, death signal, blocked signals, whether its executable can be written. */
static void describe(char *out, size_t size) {
    int death = -1, fds = 0, blocked = 0;
    prctl(PR_GET_PDEATHSIG, &death);
    for (int fd = 0; fd < 256; fd++) fds += fcntl(fd, F_GETFD) >= 0;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < 32; number++) blocked += sigismember(&mask, number) == 1;
    struct sigaction pipe_action;
    sigaction(SIGPIPE, NULL, &pipe_action);
    int writable = open("/proc/self/exe", O_RDWR);
    int error = writable < 0 ? errno : 0;
    char exe[256] = "";
    ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    exe[length < 0 ? 0 : length] = 0;
    snprintf(out, size, "fds=%d death=%d blocked=%d pipe=%s write=%d exe=%s", fds, death, blocked,
             pipe_action.sa_handler == SIG_DFL ? "default" : "changed", error, exe);
}

int main(int argc, char **argv) {
    if (argc < 2) return 91;
    if (strcmp(argv[1], "talk") == 0) {
        int fd = atoi(argv[2]);
        unsigned header[6];
        int pipe_ends[2];
        char text[512];
        describe(text, sizeof(text));
        send_message(fd, 1, getpid(), "", text, -1);
        if (recv(fd, header, sizeof(header), 0) != sizeof(header) || header[0] != 2) return 92;
        if (pipe(pipe_ends) < 0 || write(pipe_ends[1], "through a pipe", 14) != 14) return 93;
        send_message(fd, 7, -5, "/dev/pts/0", "tty", pipe_ends[0]);
        return 7;
    }
    if (strcmp(argv[1], "monitor") == 0) {
        char text[512];
        describe(text, sizeof(text));
        printf("%s %s\n", argv[0], text);
        return 8;
    }
    if (strcmp(argv[1], "overwrite") == 0) {
        /* From a program of its own: a running executable is busy whatever else protects it. */
        int fd = open("/proc/self/exe", O_PATH);
        if (fd < 0 || dup2(fd, 9) < 0) return 95;
        execl("/bin/sh", "sh", "-c", "exec 2>&1; echo bad >>/proc/self/fd/9", (char *)NULL);
        return 96;
    }
    if (strcmp(argv[1], "hang") == 0) {
        pause();
        return 0;
    }
    return 94;
}
