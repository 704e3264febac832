// The hands of a runtime's client (test/clients/client.ts is the head): adopts orphans, reaps every child, starts programs with
// pipes, terminals and a parent-death signal, and takes what arrives on console sockets.
//
// stdin has a request a line, stdout an event a line; words are separated by US (0x1f), data is hexadecimal.
//   pipe NAME            a pipe that programs write to            data NAME HEX, eof NAME
//   input NAME           a pipe that programs read from           (send NAME HEX, close NAME)
//   terminal NAME R C    a pty; programs get its slave            data NAME HEX, eof NAME (send, size NAME R C: sized NAME R C)
//   console NAME PATH    a console socket                         console NAME DESCRIPTORS HEX MORE; then as a terminal
//   open NAME PATH       a file for reading and writing
//   spawn TAG FLAGS CWD STDIO COUNT ENV... ARG...                 spawned TAG PID
//     FLAGS: d = dies with the client, g = process group of its own, t = session whose terminal is stdin, l = LISTEN_PID in ENV, - = none
//     STDIO: names for descriptors 0, 1, ..., separated by commas; "null" is /dev/null. This side's copies are closed.
// Every child that ends, its own or adopted: exit PID STATUS (128 + n for a signal). Usage: client; it ends with stdin.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDS = 128, WORDS = 512, LINE = 1 << 17, HIGH = 200 };

// Something with a name: `ours` is polled or written here, `theirs` goes to programs.
struct end {
    char name[32];
    int ours, theirs;
    enum { READ, WRITE, TERMINAL, LISTEN } kind;
};
static struct end ends[ENDS];
static int end_count;
static sigset_t inherited_mask;

static void fail(const char *what)
{
    dprintf(2, "client: %s: %s\n", what, strerror(errno));
    exit(1);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    static char line[LINE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    line[length++] = '\n';
    if (write(1, line, (size_t)length) != length)
        exit(1);
}

static struct end *add(const char *name, int kind, int ours, int theirs)
{
    struct end *end = ends;
    // What is closed on both sides makes room.
    while (end < ends + end_count && (end->ours >= 0 || end->theirs >= 0))
        end++;
    if (end == ends + ENDS)
        fail("too many ends");
    if (end == ends + end_count)
        end_count++;
    *end = (struct end){.ours = ours, .theirs = theirs, .kind = kind};
    snprintf(end->name, sizeof end->name, "%s", name);
    return end;
}

static struct end *find(const char *name)
{
    for (int i = 0; i < end_count; i++)
        if (!strcmp(ends[i].name, name))
            return &ends[i];
    errno = ENOENT;
    fail(name);
    return NULL;
}

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static const char *hex(const char *data, size_t length)
{
    static char text[2 * 4096 + 1];
    for (size_t i = 0; i < length; i++)
        sprintf(text + 2 * i, "%02x", (unsigned char)data[i]);
    text[2 * length] = 0;
    return text;
}

static void set_size(int fd, const char *rows, const char *columns)
{
    struct winsize size = {.ws_row = (unsigned short)atoi(rows), .ws_col = (unsigned short)atoi(columns)};
    if (ioctl(fd, TIOCSWINSZ, &size))
        fail("size");
}

static void make_pipe(const char *name, int kind)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC))
        fail("pipe");
    add(name, kind, fds[kind == READ ? 0 : 1], fds[kind == READ ? 1 : 0]);
}

static void make_terminal(const char *name, const char *rows, const char *columns)
{
    int master, slave;
    if (openpty(&master, &slave, NULL, NULL, NULL))
        fail("openpty");
    fcntl(master, F_SETFD, FD_CLOEXEC);
    fcntl(slave, F_SETFD, FD_CLOEXEC);
    set_size(master, rows, columns);
    add(name, TERMINAL, master, slave);
}

static void make_console(const char *name, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        fail(path);
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4))
        fail(path);
    add(name, LISTEN, listener, -1);
}

static void take_console(struct end *end)
{
    int peer = accept4(end->ours, NULL, NULL, SOCK_CLOEXEC);
    char payload[4096], control[256], more;
    struct iovec io = {payload, sizeof payload};
    struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(peer, &message, MSG_CMSG_CLOEXEC);
    int fds[16], count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(fds, CMSG_DATA(c), (size_t)count * sizeof(int));
        }
    say("console\x1f%s\x1f%d\x1f%s\x1f%s", end->name, count, hex(payload, got > 0 ? (size_t)got : 0),
        recv(peer, &more, 1, 0) > 0 ? "more" : "end");
    close(peer);
    shut(&end->ours);
    if (count) {
        end->ours = fds[0];
        end->kind = TERMINAL;
    }
}

static void child(pid_t client, const char *flags, const char *directory, char *stdio, char **env, char **argv)
{
    int count = 0;
    for (char *name = strtok(stdio, ","); name; name = strtok(NULL, ",")) {
        int fd = strcmp(name, "null") ? find(name)->theirs : open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd < 0 || fcntl(fd, F_DUPFD_CLOEXEC, HIGH + count++) < 0)
            fail(name);
    }
    for (int i = 0; i < count; i++)
        dup2(HIGH + i, i);
    if (strchr(flags, 'g'))
        setpgid(0, 0);
    if (strchr(flags, 't') && (setsid() < 0 || ioctl(0, TIOCSCTTY, 0)))
        fail("terminal");
    static char listen_pid[32];
    snprintf(listen_pid, sizeof listen_pid, "LISTEN_PID=%d", getpid());
    for (char **entry = env; strchr(flags, 'l') && *entry; entry++)
        if (!strncmp(*entry, "LISTEN_PID=", 11))
            *entry = listen_pid;
    if (strchr(flags, 'd')) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        // The signal of a client that has died before that does not come.
        if (getppid() != client)
            _exit(128 + SIGKILL);
    }
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
    if (chdir(directory))
        fail(directory);
    execve(argv[0], argv, env);
    fail(argv[0]);
}

static void spawn(char **words)
{
    char *tag = words[1], *flags = words[2], *directory = words[3], *stdio = words[4];
    int count = atoi(words[5]);
    char *env[WORDS] = {0}, names[LINE];
    memcpy(env, words + 6, (size_t)count * sizeof *env);
    strcpy(names, stdio);
    pid_t client = getpid(), pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid == 0)
        child(client, flags, directory, stdio, env, words + 6 + count);
    say("spawned\x1f%s\x1f%d", tag, pid);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
        if (strcmp(name, "null"))
            shut(&find(name)->theirs);
}

static void send_data(struct end *end, const char *text)
{
    for (unsigned byte; sscanf(text, "%2x", &byte) == 1; text += 2) {
        char c = (char)byte;
        // A program that has ended reads no more.
        if (write(end->ours, &c, 1) != 1)
            return;
    }
}

static void obey(char *line)
{
    char *words[WORDS] = {0};
    int count = 0;
    for (char *word; (word = strsep(&line, "\x1f")) && count < WORDS - 1;)
        words[count++] = word;
    if (!strcmp(words[0], "pipe"))
        make_pipe(words[1], READ);
    else if (!strcmp(words[0], "input"))
        make_pipe(words[1], WRITE);
    else if (!strcmp(words[0], "terminal"))
        make_terminal(words[1], words[2], words[3]);
    else if (!strcmp(words[0], "console"))
        make_console(words[1], words[2]);
    else if (!strcmp(words[0], "open"))
        add(words[1], WRITE, -1, open(words[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    else if (!strcmp(words[0], "send"))
        send_data(find(words[1]), words[2]);
    else if (!strcmp(words[0], "size")) {
        set_size(find(words[1])->ours, words[2], words[3]);
        say("sized\x1f%s\x1f%s %s", words[1], words[2], words[3]);
    } else if (!strcmp(words[0], "close"))
        shut(&find(words[1])->ours);
    else
        spawn(words);
}

static void requests(void)
{
    static char buffer[LINE];
    static size_t length;
    ssize_t got = read(0, buffer + length, sizeof buffer - length);
    if (got <= 0)
        exit(0);
    length += (size_t)got;
    for (char *newline; (newline = memchr(buffer, '\n', length));) {
        *newline = 0;
        size_t used = (size_t)(newline + 1 - buffer);
        obey(buffer);
        memmove(buffer, buffer + used, length -= used);
    }
}

static void reap(int signals)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof info) < 0)
        fail("signalfd");
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        say("exit\x1f%d\x1f%d", pid, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void pump(struct end *end)
{
    char data[4096];
    ssize_t got = read(end->ours, data, sizeof data);
    if (got > 0) {
        say("data\x1f%s\x1f%s", end->name, hex(data, (size_t)got));
        return;
    }
    // EIO: the last slave of a terminal is closed.
    shut(&end->ours);
    say("eof\x1f%s", end->name);
}

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, &inherited_mask) || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        fail("start");
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    for (;;) {
        struct pollfd fds[ENDS + 2] = {{0, POLLIN, 0}, {signals, POLLIN, 0}};
        int count = end_count;
        for (int i = 0; i < count; i++)
            fds[i + 2] = (struct pollfd){ends[i].kind == WRITE ? -1 : ends[i].ours, POLLIN, 0};
        if (poll(fds, (nfds_t)count + 2, -1) < 0)
            fail("poll");
        for (int i = 0; i < count; i++)
            if (fds[i + 2].revents)
                (ends[i].kind == LISTEN ? take_console : pump)(&ends[i]);
        if (fds[1].revents)
            reap(signals);
        if (fds[0].revents)
            requests();
    }
}
