/* What the client of the daemon needs beside the host module's functions: its promises, signals one by one, the terminal that it was started in, and local ports. */
#include "client.h"

#include "../host/arguments.h"
#include "../host/error.h"
#include "../program/invocation.h"

#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

HOST_FUNCTION(client_run_jobs) {
    JSContext *job_context;
    int done;
    do done = JS_ExecutePendingJob(JS_GetRuntime(ctx), &job_context);
    while (done > 0);
    return done < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

/* ---- signals */

static sigset_t set_of(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

HOST_CALL(client_hold_signal, "i") {
    const sigset_t set = set_of(a[0].number);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return host_number(ctx, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd", NULL);
}

HOST_CALL(client_release_signal, "ii") {
    const sigset_t set = set_of(a[0].number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return host_done(ctx, close(a[1].number), "close", NULL);
}

HOST_CALL(client_raise, "i") { return host_done(ctx, kill(getpid(), a[0].number), "kill", NULL); }

/* ---- the terminal */

static struct {
    bool is_taken;
    int fd;
    struct termios before;
} terminal;

void client_restore_terminal(void) {
    if (terminal.is_taken) tcsetattr(terminal.fd, TCSADRAIN, &terminal.before);
    terminal.is_taken = false;
}

/* Every key is a byte of its own. The output keeps what makes a line of a newline: other programs write to the terminal, too. */
HOST_CALL(client_take_terminal, "i") {
    struct termios modes;
    if (tcgetattr(a[0].number, &modes) < 0) return host_throw(ctx, errno, "tcgetattr", NULL);
    if (!terminal.is_taken) terminal.before = modes;
    terminal.fd = a[0].number;
    terminal.is_taken = true;
    modes.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    modes.c_oflag |= ONLCR;
    modes.c_cflag |= CS8;
    modes.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    return host_done(ctx, tcsetattr(terminal.fd, TCSADRAIN, &modes), "tcsetattr", NULL);
}

HOST_FUNCTION(client_give_back_terminal) {
    client_restore_terminal();
    return JS_UNDEFINED;
}

HOST_CALL(client_exit, "i") {
    client_restore_terminal();
    _exit(a[0].number);
}

/* ---- local ports */

#define WAITING_CONNECTIONS 511

static int listen_at(const struct addrinfo *address) {
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, WAITING_CONNECTIONS) == 0) return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

HOST_CALL(client_listen, "si") {
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found;
    /* What is no address and no name of this host is the same to the caller. */
    if (getaddrinfo(a[0].text, NULL, &hints, &found) != 0) return host_throw(ctx, ENXIO, "getaddrinfo", a[0].text);
    if (found->ai_family == AF_INET6) ((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_port = htons((uint16_t)a[1].number);
    else ((struct sockaddr_in *)(void *)found->ai_addr)->sin_port = htons((uint16_t)a[1].number);
    const int fd = listen_at(found);
    const int error = errno;
    freeaddrinfo(found);
    return fd < 0 ? host_throw(ctx, error, "listen", NULL) : JS_NewInt32(ctx, fd);
}

HOST_CALL(client_local_port, "i") {
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    if (getsockname(a[0].number, (struct sockaddr *)&address, &length) < 0) return host_throw(ctx, errno, "getsockname", NULL);
    const bool is_v6 = address.ss_family == AF_INET6;
    const void *bytes = &address;
    return JS_NewInt32(ctx, ntohs(is_v6 ? ((const struct sockaddr_in6 *)bytes)->sin6_port : ((const struct sockaddr_in *)bytes)->sin_port));
}

HOST_CALL(client_end_sending, "i") { return host_done(ctx, shutdown(a[0].number, SHUT_WR), "shutdown", NULL); }
