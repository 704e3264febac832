// A criu that only speaks its protocol: `fake-criu swrk FD`. It writes every request to $FAKE_CRIU/request-N as it came, kills what it is
// to dump, and starts a program that sleeps in place of what it is to restore, as a child of its caller and where it is itself. Environment:
//   FAKE_CRIU=DIR      where requests, and for a restore the mount table it sees (mounts), go
//   FAKE_FAIL=WORD     dump, restore: refuse it with a line in the log; die: end without an answer
//   FAKE_HANG=1        dump, restore: write the own pid to DIR/pid, and answer nothing for ever (a restore: with a process of the container's)
//   FAKE_VERSION=A.B.C, FAKE_FEATURES=mem,lazy, FAKE_TERMINAL=1 (the restored program has a terminal), FAKE_WRITABLE=1 (and a root that is
//   not read-only), FAKE_ELSEWHERE=FILE (and is in the cgroup whose cgroup.procs this is), FAKE_LOG=FILE (what a refusal writes into the log)
// Like the real one it restores into a mount and a time namespace of their own, and empties its log and its statistics where links lead.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum { DUMP = 1, RESTORE = 2, PRE_DUMP = 4, NOTIFY = 6, FEATURES = 9, VERSION = 10 };

struct message {
    uint8_t bytes[65536];
    size_t length;
};

static int sock;

static void put(struct message *out, int field, uint64_t value)
{
    uint64_t parts[2] = {(uint64_t)field << 3, value};
    for (int i = 0; i < 2; i++) {
        for (; parts[i] >= 0x80; parts[i] >>= 7)
            out->bytes[out->length++] = (uint8_t)(parts[i] | 0x80);
        out->bytes[out->length++] = (uint8_t)parts[i];
    }
}

static void put_bytes(struct message *out, int field, const void *bytes, size_t length)
{
    out->bytes[out->length++] = (uint8_t)(field << 3 | 2);
    out->bytes[out->length++] = (uint8_t)length;
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

static uint64_t take(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (int shift = 0; *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return value;
}

// The value of a field of a message; of a message in it, its bytes in *inner.
static uint64_t field(const uint8_t *bytes, size_t length, int wanted, struct message *inner)
{
    const uint8_t *at = bytes, *end = bytes + length;
    uint64_t found = 0;
    while (at < end) {
        uint64_t key = take(&at, end), value = take(&at, end);
        if ((key & 7) == 2) {
            if ((int)(key >> 3) == wanted && inner) {
                memcpy(inner->bytes, at, value);
                inner->length = value;
            }
            at += value;
        } else if ((int)(key >> 3) == wanted) {
            found = value;
        }
    }
    return found;
}

static void send_message(const struct message *message, int fd)
{
    char control[CMSG_SPACE(sizeof(int))] = "";
    struct iovec part = {(void *)(uintptr_t)message->bytes, message->length};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    }
    if (sendmsg(sock, &header, 0) < 0)
        _exit(9);
}

static int notify(const char *script, pid_t pid, int fd)
{
    static struct message answer, inner;
    answer.length = inner.length = 0;
    put_bytes(&inner, 1, script, strlen(script));
    if (pid)
        put(&inner, 2, (uint64_t)pid);
    put(&answer, 1, NOTIFY);
    put(&answer, 2, 1);
    put_bytes(&answer, 5, inner.bytes, inner.length);
    send_message(&answer, fd);
    ssize_t got = recv(sock, answer.bytes, sizeof answer.bytes, 0);
    if (got <= 0)
        _exit(8);
    return field(answer.bytes, (size_t)got, 1, NULL) == NOTIFY && field(answer.bytes, (size_t)got, 3, NULL);
}

static int fails(const char *what)
{
    const char *asked = getenv("FAKE_FAIL");
    if (asked && !strcmp(asked, "die"))
        _exit(7);
    return asked && !strcmp(asked, what);
}

// As criu does it: directories are descriptors of the caller.
static int open_work(const struct message *options, const char *name)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    char path[4096];
    getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    snprintf(path, sizeof path, "/proc/%d/fd/%d/%s", peer.pid, (int)field(options->bytes, options->length, 17, NULL), name);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

static void copy_log(int fd, const char *from)
{
    static char text[65536];
    int source = open(from, O_RDONLY);
    for (ssize_t got; (got = read(source, text, sizeof text)) > 0;)
        if (write(fd, text, (size_t)got) != got)
            _exit(4);
    close(source);
}

static void refuse(struct message *answer, const struct message *options, const char *log)
{
    int fd = open_work(options, log);
    if (getenv("FAKE_LOG"))
        copy_log(fd, getenv("FAKE_LOG"));
    else
        dprintf(fd, "(00.000001) Version: 3.17.1\n(00.000002)      1: Error (criu/mount.c:12): mnt: the first of two\n(00.000003) Error (criu/x.c:3): the second\n");
    close(fd);
    put(answer, 2, 0);
    put(answer, 7, 52);
}

// Says who is going to answer nothing.
static void announce(void)
{
    char path[4096];
    if (!getenv("FAKE_HANG"))
        return;
    snprintf(path, sizeof path, "%s/pid", getenv("FAKE_CRIU"));
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    dprintf(fd, "%d", getpid());
    close(fd);
}

static void hang(void)
{
    while (getenv("FAKE_HANG"))
        pause();
}

static void dump(struct message *answer, const struct message *options, int type)
{
    pid_t pid = (pid_t)field(options->bytes, options->length, 2, NULL);
    if (fails("dump")) {
        refuse(answer, options, "dump.log");
        return;
    }
    announce();
    hang();
    if (field(options->bytes, options->length, 48, NULL))
        notify("status-ready", 0, -1);
    notify("pre-dump", 0, -1);
    if (type == DUMP && !field(options->bytes, options->length, 3, NULL))
        kill(pid, SIGKILL);
    put(answer, 2, 1);
}

static void make_namespaces(void)
{
    if (unshare(CLONE_NEWNS | CLONE_NEWTIME) < 0 && unshare(CLONE_NEWNS) < 0)
        _exit(10);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        _exit(11);
    if (!getenv("FAKE_WRITABLE") && mount(NULL, "/", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
        _exit(12);
}

static void move_elsewhere(pid_t pid)
{
    const char *path = getenv("FAKE_ELSEWHERE");
    if (!path)
        return;
    int fd = open(path, O_WRONLY);
    if (dprintf(fd, "%d", pid) < 0)
        _exit(13);
    close(fd);
}

static pid_t start_sleeper(int *master)
{
    int slave = -1;
    *master = -1;
    if (getenv("FAKE_TERMINAL")) {
        *master = posix_openpt(O_RDWR | O_NOCTTY);
        if (*master < 0 || unlockpt(*master))
            _exit(6);
        slave = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
    }
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0);
    if (pid)
        return pid;
    if (slave >= 0)
        for (int i = 0; i < 3; i++)
            dup2(slave, i);
    close(sock);
    dprintf(1, "restored\n");
    execl("/bin/sleep", "sleep", "1000", NULL);
    _exit(5);
}

static void restore(struct message *answer, const struct message *options)
{
    if (fails("restore")) {
        refuse(answer, options, "restore.log");
        return;
    }
    close(open_work(options, "restore.log"));
    close(open_work(options, "stats-restore"));
    int master;
    announce();
    make_namespaces();
    pid_t pid = start_sleeper(&master);
    hang();
    move_elsewhere(pid);
    int agreed = notify("setup-namespaces", pid, -1);
    if (agreed && master >= 0)
        agreed = notify("orphan-pts-master", 0, master);
    if (agreed)
        agreed = notify("post-restore", pid, -1);
    if (!agreed)
        kill(pid, SIGKILL);
    put(answer, 2, (uint64_t)agreed);
    static struct message inner;
    inner.length = 0;
    put(&inner, 1, (uint64_t)pid);
    put_bytes(answer, 4, inner.bytes, inner.length);
}

static void answer_version(struct message *answer)
{
    unsigned parts[3] = {3, 17, 1};
    struct message *inner = calloc(1, sizeof *inner);
    if (getenv("FAKE_VERSION"))
        sscanf(getenv("FAKE_VERSION"), "%u.%u.%u", &parts[0], &parts[1], &parts[2]);
    put(inner, 1, parts[0]);
    put(inner, 2, parts[1]);
    put(inner, 4, parts[2]);
    put(answer, 2, 1);
    put_bytes(answer, 10, inner->bytes, inner->length);
    free(inner);
}

static void answer_features(struct message *answer)
{
    const char *features = getenv("FAKE_FEATURES") ? getenv("FAKE_FEATURES") : "";
    struct message *inner = calloc(1, sizeof *inner);
    put(inner, 1, strstr(features, "mem") != NULL);
    put(inner, 2, strstr(features, "lazy") != NULL);
    put(answer, 2, 1);
    put_bytes(answer, 8, inner->bytes, inner->length);
    free(inner);
}

static void record(const struct message *request, int type)
{
    char path[4096];
    struct stat info;
    int number = 0;
    do
        snprintf(path, sizeof path, "%s/request-%d", getenv("FAKE_CRIU"), ++number);
    while (!stat(path, &info));
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (write(fd, request->bytes, request->length) != (ssize_t)request->length)
        _exit(4);
    close(fd);
    if (type != RESTORE)
        return;
    static char text[65536];
    snprintf(path, sizeof path, "%s/mounts", getenv("FAKE_CRIU"));
    int from = open("/proc/self/mountinfo", O_RDONLY), to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (ssize_t got; (got = read(from, text, sizeof text)) > 0;)
        if (write(to, text, (size_t)got) != got)
            _exit(4);
}

int main(int argc, char **argv)
{
    static struct message request, options, answer;
    if (argc != 3 || strcmp(argv[1], "swrk"))
        return 2;
    sock = atoi(argv[2]);
    ssize_t got = recv(sock, request.bytes, sizeof request.bytes, 0);
    if (got <= 0)
        return 3;
    request.length = (size_t)got;
    int type = (int)field(request.bytes, request.length, 1, NULL);
    field(request.bytes, request.length, 2, &options);
    if (type != VERSION)
        record(&request, type);
    put(&answer, 1, (uint64_t)type);
    if (type == VERSION)
        answer_version(&answer);
    else if (type == FEATURES)
        answer_features(&answer);
    else if (type == DUMP || type == PRE_DUMP)
        dump(&answer, &options, type);
    else if (type == RESTORE)
        restore(&answer, &options);
    send_message(&answer, -1);
    return 0;
}
