/* Unix sockets by path, for a peer that speaks a protocol of its own. */
#include "stream.h"

#include "arguments.h"
#include "error.h"
#include "function.h"
#include "wait.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define RECEIVE_LIMIT ((size_t)64 << 10)

/* How long a listener may leave connections unaccepted, and how often to try again. */
#define ACCEPT_MS 10000
#define TRY_MS 20

/* A full queue of pending connections (EAGAIN) may stay full for ever. */
static int connect_within(int fd, const struct sockaddr_un *address, socklen_t length) {
    for (int waited = 0;; waited += TRY_MS) {
        int result;
        do result = connect(fd, (const struct sockaddr *)address, length);
        while (result < 0 && errno == EINTR);
        if (result == 0 || errno != EAGAIN) return result;
        if (waited >= ACCEPT_MS) {
            errno = ETIMEDOUT;
            return -1;
        }
        if (host_poll_until(NULL, 0, TRY_MS) < 0) return -1;
    }
}

static int connect_address(int type, const struct sockaddr_un *address, socklen_t length) {
    const bool may_wait = type == SOCK_STREAM;
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | (may_wait ? SOCK_NONBLOCK : 0), 0);
    if (fd < 0) return -1;
    if (connect_within(fd, address, length) == 0 && (!may_wait || fcntl(fd, F_SETFL, 0) == 0)) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int connect_abstract(int type, const char *name) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = strlen(name);
    if (length >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path + 1, name, length);
    return connect_address(type, &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length));
}

/* By /proc/self/fd there is no limit on the length of the path (sun_path has 108 bytes). */
static int connect_to(int type, const char *path) {
    if (path[0] == '@') return connect_abstract(type, path + 1);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int target = open(path, O_PATH | O_CLOEXEC);
    if (target < 0) return -1;
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", target);
    int fd = connect_address(type, &address, sizeof(address));
    int error = errno;
    close(target);
    errno = error;
    return fd;
}

int host_connect_to(const char *path) { return connect_to(SOCK_STREAM, path); }

/* For an argument that is a path: `make` gives a descriptor, or -1 and errno. */
static JSValue socket_at(JSContext *ctx, JSValueConst argument, int (*make)(const char *), const char *call) {
    const char *path = host_text(ctx, argument);
    if (!path) return JS_EXCEPTION;
    int fd = make(path);
    JSValue result = fd < 0 ? host_throw(ctx, errno, call, path) : JS_NewInt32(ctx, fd);
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_connect) { return socket_at(ctx, host_arg(argc, argv, 0), host_connect_to, "connect"); }

static int connect_datagram(const char *path) { return connect_to(SOCK_DGRAM, path); }

HOST_FUNCTION(host_connect_datagram) { return socket_at(ctx, host_arg(argc, argv, 0), connect_datagram, "connect"); }

/* By its directory's descriptor, for the length. The mode is the socket's own, cut by the umask; a chmod(2) afterwards could be led
 * elsewhere by whoever may write to the directory. */
static int bind_datagram(const char *path) {
    const char *name = strrchr(path, '/');
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char directory[PATH_MAX];
    if (!name || (size_t)snprintf(directory, sizeof(directory), "%.*s", (int)(name - path + 1), path) >= sizeof(directory)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int parent = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) return -1;
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d%s", parent, name);
    int fd = (size_t)length < sizeof(address.sun_path) ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    mode_t mask = umask(0);
    if ((size_t)length >= sizeof(address.sun_path)) errno = ENAMETOOLONG;
    int result = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&address, sizeof(address));
    int error = errno;
    umask(mask);
    close(parent);
    if (result == 0) return fd;
    if (fd >= 0) close(fd);
    errno = error;
    return -1;
}

HOST_FUNCTION(host_bind_datagram) { return socket_at(ctx, host_arg(argc, argv, 0), bind_datagram, "bind"); }

/* The peer's credentials when it called connect(2), not those that it has now. */
HOST_FUNCTION(host_peer_credentials) {
    int fd;
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return host_throw(ctx, errno, "getsockopt", NULL);
    JSValue result = JS_NewObject(ctx);
    if (JS_IsException(result)) return result;
    host_set(ctx, result, "pid", JS_NewInt32(ctx, peer.pid));
    host_set(ctx, result, "uid", JS_NewUint32(ctx, peer.uid));
    host_set(ctx, result, "gid", JS_NewUint32(ctx, peer.gid));
    return result;
}

HOST_FUNCTION(host_receive) {
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

HOST_FUNCTION(host_monotonic) { return JS_NewInt64(ctx, host_monotonic_ms()); }
