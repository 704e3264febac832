/* What a program that stays waits for beside bytes: signals and clients; and the terminal that it is in. */
#include "arguments.h"
#include "error.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

HOST_FUNCTION(host_signal_descriptor) {
    sigset_t all;
    sigfillset(&all);
    int fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? host_throw(ctx, errno, "signalfd", NULL) : JS_NewInt32(ctx, fd);
}

HOST_CALL(host_next_signal, "i") {
    struct signalfd_siginfo info;
    return JS_NewInt32(ctx, read(a[0].number, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0);
}

HOST_CALL(host_listen, "s") {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(a[0].text) >= sizeof(address.sun_path)) return host_throw(ctx, ENAMETOOLONG, "bind", a[0].text);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", a[0].text);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return host_throw(ctx, errno, "socket", NULL);
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 64) == 0) return JS_NewInt32(ctx, fd);
    int error = errno;
    close(fd);
    return host_throw(ctx, error, "bind", a[0].text);
}

HOST_CALL(host_accept, "i") {
    int client = accept4(a[0].number, NULL, NULL, SOCK_CLOEXEC);
    return client < 0 ? host_throw(ctx, errno, "accept", NULL) : JS_NewInt32(ctx, client);
}

HOST_CALL(host_make_raw, "i") {
    struct termios modes;
    if (tcgetattr(a[0].number, &modes) < 0) return host_throw(ctx, errno, "tcgetattr", NULL);
    cfmakeraw(&modes);
    return tcsetattr(a[0].number, TCSANOW, &modes) < 0 ? host_throw(ctx, errno, "tcsetattr", NULL) : JS_UNDEFINED;
}

HOST_CALL(host_set_window_size, "iii") {
    struct winsize size = { .ws_row = (unsigned short)a[1].number, .ws_col = (unsigned short)a[2].number };
    return ioctl(a[0].number, TIOCSWINSZ, &size) < 0 ? host_throw(ctx, errno, "ioctl", NULL) : JS_UNDEFINED;
}
