/* Hand a descriptor with a text to whoever is at the other end of a unix socket. */
#include "listener.h"

#include "arguments.h"
#include "error.h"
#include "function.h"
#include "stream.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t host_send_with(int socket, struct iovec *part, int descriptor) {
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = { .msg_iov = part, .msg_iovlen = 1 };
    if (descriptor >= 0) {
        memset(&control, 0, sizeof(control));
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

/* The descriptor goes with the first byte; what does not fit into one message follows. */
static int send_all(int fd, const struct bytes *bytes, int descriptor) {
    struct iovec part = { (void *)(uintptr_t)bytes->data, bytes->length };
    while (part.iov_len > 0) {
        ssize_t sent = host_send_with(fd, &part, descriptor);
        if (sent < 0) return -1;
        part.iov_base = (char *)part.iov_base + sent;
        part.iov_len -= (size_t)sent;
        descriptor = -1;
    }
    return 0;
}

HOST_FUNCTION(host_send_descriptor) {
    int descriptor;
    struct bytes bytes;
    if (!host_int(ctx, host_arg(argc, argv, 2), &descriptor)) return JS_EXCEPTION;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    JSValue result = JS_EXCEPTION;
    if (host_bytes(ctx, host_arg(argc, argv, 1), &bytes)) {
        int fd = host_connect_to(path);
        if (fd < 0) result = host_throw(ctx, errno, "connect", path);
        else if (send_all(fd, &bytes, descriptor) < 0) result = host_throw(ctx, errno, "sendmsg", path);
        else result = JS_UNDEFINED;
        if (fd >= 0) close(fd);
        host_free_bytes(ctx, &bytes);
    }
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_send_datagram) {
    int fd, descriptor;
    struct bytes bytes;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd) || !host_int(ctx, host_arg(argc, argv, 2), &descriptor)) return JS_EXCEPTION;
    if (!host_bytes(ctx, host_arg(argc, argv, 1), &bytes)) return JS_EXCEPTION;
    struct iovec part = { (void *)(uintptr_t)bytes.data, bytes.length };
    ssize_t sent = host_send_with(fd, &part, descriptor);
    int error = errno;
    host_free_bytes(ctx, &bytes);
    return sent < 0 ? host_throw(ctx, error, "sendmsg", NULL) : JS_UNDEFINED;
}
