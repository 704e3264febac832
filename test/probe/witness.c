// A process that tells whoever listens at a socket of every signal it gets, and that ends with the connection: nothing of it stays when a test
// ends in whatever way. All signals but KILL and STOP are read, none has an effect.
// Usage: witness [--ends-on-term] [--stops-others] [--child] [--fate MICROSECONDS SIGNAL]... SOCKET NAME [COMMAND ARGUMENT...]
// It says "hello NAME PID", "signal NUMBER SENDER", "child PID", "exit STATUS", "pong WORD"; it is told "ping WORD" and "kill SIGNAL".
// COMMAND runs beside it in its process group; --fate and "kill" send it signals. --child: a second one, NAME.child. --stops-others: as the first
// process of a PID namespace, it stops every other process there, again and again.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FATES = 4, LINE = 256 };

static struct {
    long long at;
    int signal;
} fates[FATES];
static int fate_count, next_fate;
static int server, signals;
static pid_t command;
static int ends_on_term, stops_others;

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
    char text[LINE];
    va_list rest;
    va_start(rest, format);
    int length = vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    if (send(server, text, (size_t)length, MSG_NOSIGNAL) != length)
        _exit(0);
}

static void connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address))
        _exit(3);
}

// Reaps whatever ends; says so of the command, behind the signals that came before.
static void read_signals(void)
{
    struct signalfd_siginfo info;
    int ended = -1;
    while (read(signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD || info.ssi_code <= 0)
            tell("signal %u %u\n", info.ssi_signo, info.ssi_pid);
        if (info.ssi_signo == SIGTERM && ends_on_term)
            _exit(0);
        int status;
        for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (child != command)
                continue;
            command = 0;
            ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
    if (ended >= 0)
        tell("exit %d\n", ended);
}

static void obey(char *text)
{
    char word[LINE];
    int number;
    if (sscanf(text, "ping %200s", word) == 1)
        tell("pong %s\n", word);
    else if (sscanf(text, "kill %d", &number) == 1 && command > 0)
        kill(command, number);
}

static void read_orders(void)
{
    char text[LINE * 4];
    ssize_t length = recv(server, text, sizeof text - 1, 0);
    if (length <= 0) {
        if (command > 0)
            kill(command, SIGKILL);
        _exit(0);
    }
    text[length] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        obey(line);
}

static int patience_ms(void)
{
    if (stops_others)
        return 1;
    if (next_fate == fate_count)
        return -1;
    long long left = fates[next_fate].at - now_us();
    return left <= 0 ? 0 : (int)((left + 999) / 1000);
}

static void meet_fate(void)
{
    while (next_fate < fate_count && fates[next_fate].at <= now_us()) {
        if (command > 0)
            kill(command, fates[next_fate].signal);
        next_fate++;
    }
}

static void start(char **arguments)
{
    command = fork();
    if (command == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    long long begun = now_us();
    for (int at = 0; at < fate_count; at++)
        fates[at].at += begun;
    tell("child %d\n", command);
}

int main(int argc, char **argv)
{
    int at = 1, child = 0;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (!strcmp(argv[at], "--ends-on-term"))
            ends_on_term = 1;
        else if (!strcmp(argv[at], "--stops-others"))
            stops_others = getpid() == 1;
        else if (!strcmp(argv[at], "--child"))
            child = 1;
        else if (!strcmp(argv[at], "--fate") && at + 2 < argc && fate_count < FATES) {
            fates[fate_count].at = atoll(argv[++at]);
            fates[fate_count++].signal = atoi(argv[++at]);
        } else
            return 2;
    }
    if (argc - at < 2)
        return 2;
    const char *name = argv[at + 1];
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    int is_child = child && fork() == 0;
    connect_to(argv[at]);
    signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    tell("hello %s%s %d\n", name, is_child ? ".child" : "", getpid());
    if (argc - at > 2)
        start(argv + at + 2);
    for (;;) {
        struct pollfd polled[] = { { .fd = server, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
        if (poll(polled, 2, patience_ms()) < 0 && errno != EINTR)
            return 4;
        if (polled[1].revents)
            read_signals();
        if (polled[0].revents)
            read_orders();
        meet_fate();
        if (stops_others)
            kill(-1, SIGSTOP);
    }
}
