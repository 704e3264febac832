/* Unix sockets: by path, and messages with descriptors. */
#include "sockets.h"

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
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

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
    return host_discard(fd);
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
    host_discard(target);
    return fd;
}

HOST_CALL(host_connect, "s") { return host_number(ctx, connect_to(SOCK_STREAM, a[0].text), "connect", a[0].text); }

HOST_CALL(host_connect_datagram, "s") { return host_number(ctx, connect_to(SOCK_DGRAM, a[0].text), "connect", a[0].text); }

/* By its directory's descriptor, for the length. The mode is the socket's own, cut by the umask; a chmod(2) afterwards could be led
 * elsewhere by whoever may write to the directory. */
static int bind_datagram(const char *path) {
    const char *name = strrchr(path, '/');
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char directory[PATH_MAX];
    if (!name || (size_t)snprintf(directory, sizeof(directory), "%.*s", (int)(name - path), path) >= sizeof(directory)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int parent = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parent < 0) return -1;
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d%s", parent, name), fd = -1;
    if ((size_t)length >= sizeof(address.sun_path)) errno = ENAMETOOLONG;
    else fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    mode_t mask = umask(0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) fd = host_discard(fd);
    umask(mask);
    host_discard(parent);
    return fd;
}

HOST_CALL(host_bind_datagram, "s") { return host_number(ctx, bind_datagram(a[0].text), "bind", a[0].text); }

/* The peer's credentials when it called connect(2), not those that it has now. */
HOST_CALL(host_peer_credentials, "i") {
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(a[0].number, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return host_throw(ctx, errno, "getsockopt", NULL);
    JSValue result = JS_NewObject(ctx);
    host_set(ctx, result, "pid", JS_NewInt32(ctx, peer.pid));
    host_set(ctx, result, "uid", JS_NewUint32(ctx, peer.uid));
    host_set(ctx, result, "gid", JS_NewUint32(ctx, peer.gid));
    return result;
}

HOST_FUNCTION(host_socketpair) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return host_throw(ctx, errno, "socketpair", NULL);
    return host_numbers(ctx, pair, 2);
}

ssize_t host_send_packet(int socket, const void *data, size_t length, int descriptor) {
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { 0 };
    struct iovec part = { (void *)(uintptr_t)data, length };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t host_receive_packet(int socket, struct packet *out) {
    union {
        char space[CMSG_SPACE(PACKET_DESCRIPTORS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec place = { out->data, sizeof(out->data) };
    struct msghdr message = { .msg_iov = &place, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
    ssize_t length;
    do length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    out->fd_count = 0;
    if (length < 0) return -1;
    out->is_whole = !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        /* The space of `control` has room for no more than there is in `fds`. */
        const size_t size = part->cmsg_len - CMSG_LEN(0);
        memcpy(out->fds + out->fd_count, CMSG_DATA(part), size);
        out->fd_count += (unsigned)(size / sizeof(int));
    }
    return length;
}

/* The descriptor goes with the first byte; what does not fit into one message follows. */
static int send_all(int fd, const struct bytes *bytes, int descriptor) {
    for (size_t at = 0; at < bytes->length; descriptor = -1) {
        ssize_t sent = host_send_packet(fd, bytes->data + at, bytes->length - at, descriptor);
        if (sent < 0) return -1;
        at += (size_t)sent;
    }
    return 0;
}

HOST_CALL(host_send_descriptor, "sbi") {
    int fd = connect_to(SOCK_STREAM, a[0].text);
    if (fd < 0) return host_throw(ctx, errno, "connect", a[0].text);
    int status = send_all(fd, &a[1].bytes, a[2].number);
    host_discard(fd);
    return host_done(ctx, status, "sendmsg", a[0].text);
}

HOST_CALL(host_send_datagram, "ibi") {
    return host_done(ctx, host_send_packet(a[0].number, a[1].bytes.data, a[1].bytes.length, a[2].number), "sendmsg", NULL);
}

HOST_CALL(host_receive_packet_js, "i") {
    static struct packet packet;
    struct pollfd wait = { .fd = a[0].number, .events = POLLIN };
    if (host_poll_until(&wait, 1, -1) < 0) return host_throw(ctx, errno, "poll", NULL);
    ssize_t length = host_receive_packet(a[0].number, &packet);
    /* The peer has ended without reading our message: that counts as the end of file. */
    if (length == 0 || (length < 0 && errno == ECONNRESET)) return JS_UNDEFINED;
    if (length < 0) return host_throw(ctx, errno, "recvmsg", NULL);
    JSValue result = JS_NewObject(ctx);
    host_set(ctx, result, "data", JS_NewArrayBufferCopy(ctx, packet.data, (size_t)length));
    host_set(ctx, result, "fds", host_numbers(ctx, packet.fds, packet.fd_count));
    return result;
}

HOST_CALL(host_receive, "ii") {
    static uint8_t buffer[PACKET_LIMIT];
    struct pollfd wait = { .fd = a[0].number, .events = POLLIN };
    int ready = host_poll_until(&wait, 1, a[1].number);
    if (ready < 0) return host_throw(ctx, errno, "poll", NULL);
    if (ready == 0) return host_throw(ctx, ETIMEDOUT, "recv", NULL);
    ssize_t length;
    do length = recv(a[0].number, buffer, sizeof(buffer), 0);
    while (length < 0 && errno == EINTR);
    return length < 0 ? host_throw(ctx, errno, "recv", NULL) : JS_NewArrayBufferCopy(ctx, buffer, (size_t)length);
}
