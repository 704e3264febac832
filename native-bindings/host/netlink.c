/* rtnetlink(7): a socket in this or another network namespace, and what the kernel sends to it. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel fills at most 32 KiB at once (netlink_dump). */
#define RECEIVE_SIZE 65536

static int route_socket(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    int on = 1;
    /* The kernel's text of an error is used if there is one; none is needed. */
    if (fd >= 0) setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
    return fd;
}

/* A socket stays in the network namespace that it was made in. */
static int route_socket_in(int namespace) {
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0) return -1;
    int fd = -1;
    /* First join the namespace of this process: a process without that right could not return. */
    if (setns(home, CLONE_NEWNET) == 0 && setns(namespace, CLONE_NEWNET) == 0) {
        fd = route_socket();
        int error = errno;
        if (setns(home, CLONE_NEWNET) < 0) abort();
        errno = error;
    }
    host_discard(home);
    return fd;
}

HOST_CALL(host_netlink_open, "?i") {
    bool is_own = !a[0].is_given || a[0].number == -1;
    return host_number(ctx, is_own ? route_socket() : route_socket_in(a[0].number), "netlink", NULL);
}

HOST_CALL(host_netlink_receive, "i") {
    static _Alignas(struct nlmsghdr) uint8_t buffer[RECEIVE_SIZE];
    for (;;) {
        struct sockaddr_nl from = { 0 };
        struct iovec part = { buffer, sizeof(buffer) };
        struct msghdr message = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &part, .msg_iovlen = 1 };
        ssize_t length = recvmsg(a[0].number, &message, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0 || (message.msg_flags & MSG_TRUNC)) return host_throw(ctx, length < 0 ? errno : EMSGSIZE, "netlink", NULL);
        /* Other processes in that namespace may write to this socket, too. */
        if (from.nl_pid == 0) return JS_NewArrayBufferCopy(ctx, buffer, (size_t)length);
    }
}
