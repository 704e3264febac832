/* Unix stream sockets by path, for a peer that speaks a protocol of its own. */
#include "host.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define RECEIVE_LIMIT ((size_t)64 << 10)

static int connect_address(const struct sockaddr_un *address, socklen_t length) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int result;
    do result = connect(fd, (const struct sockaddr *)address, length);
    while (result < 0 && errno == EINTR);
    if (result == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int connect_abstract(const char *name) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = strlen(name);
    if (length >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path + 1, name, length);
    return connect_address(&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length));
}

/* By /proc/self/fd there is no limit on the length of the path (sun_path has 108 bytes). */
int host_connect_to(const char *path) {
    if (path[0] == '@') return connect_abstract(path + 1);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int target = open(path, O_PATH | O_CLOEXEC);
    if (target < 0) return -1;
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", target);
    int fd = connect_address(&address, sizeof(address));
    int error = errno;
    close(target);
    errno = error;
    return fd;
}

HOST_FUNCTION(host_connect) {
    (void)this_value;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    int fd = host_connect_to(path);
    JSValue result = fd < 0 ? host_throw(ctx, errno, "connect", path) : JS_NewInt32(ctx, fd);
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_receive) {
    (void)this_value;
    static uint8_t buffer[RECEIVE_LIMIT];
    int fd, timeout_ms;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd) || !host_int(ctx, host_arg(argc, argv, 1), &timeout_ms)) return JS_EXCEPTION;
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    int ready = host_poll_until(&wait, 1, timeout_ms);
    if (ready < 0) return host_throw(ctx, errno, "poll", NULL);
    if (ready == 0) return host_throw(ctx, ETIMEDOUT, "recv", NULL);
    ssize_t length;
    do length = recv(fd, buffer, sizeof(buffer), 0);
    while (length < 0 && errno == EINTR);
    return length < 0 ? host_throw(ctx, errno, "recv", NULL) : JS_NewArrayBufferCopy(ctx, buffer, (size_t)length);
}

HOST_FUNCTION(host_monotonic) {
    (void)this_value;
    (void)argc;
    (void)argv;
    return JS_NewInt64(ctx, host_monotonic_ms());
}
