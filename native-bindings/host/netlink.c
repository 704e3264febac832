/* rtnetlink(7): a socket in this or another network namespace, and one request at a time on it. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel fills at most 32 KiB at once (netlink_dump). */
#define RECEIVE_SIZE 65536
#define DUMP_ATTEMPTS 10

static int route_socket(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    int on = 1;
    /* The kernel's words for an error are welcome, not needed. */
    if (fd >= 0) setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
    return fd;
}

/* A socket stays in the network namespace that it was made in. */
static int route_socket_in(int namespace) {
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0) return -1;
    int fd = -1;
    /* First to where this process is: whoever may not do that could not come back. */
    if (setns(home, CLONE_NEWNET) == 0 && setns(namespace, CLONE_NEWNET) == 0) {
        fd = route_socket();
        int error = errno;
        if (setns(home, CLONE_NEWNET) < 0) abort();
        errno = error;
    }
    int error = errno;
    close(home);
    errno = error;
    return fd;
}

HOST_FUNCTION(host_netlink_open) {
    int namespace = -1;
    JSValueConst given = host_arg(argc, argv, 0);
    if (!JS_IsUndefined(given) && !host_int(ctx, given, &namespace)) return JS_EXCEPTION;
    int fd = namespace == -1 ? route_socket() : route_socket_in(namespace);
    return fd < 0 ? host_throw(ctx, errno, "netlink", NULL) : JS_NewInt32(ctx, fd);
}

struct reply {
    uint8_t *data;
    size_t length;
    int error;        /* of the kernel, or of the socket */
    char words[128];  /* what the kernel says beside it, or "" */
    bool interrupted; /* the dump is not of one moment */
    bool complete;
};

static bool keep(JSContext *ctx, struct reply *reply, const struct nlmsghdr *header) {
    size_t length = NLMSG_ALIGN(header->nlmsg_len);
    uint8_t *data = js_realloc(ctx, reply->data, reply->length + length);
    if (!data) return false;
    memset(data + reply->length, 0, length);
    memcpy(data + reply->length, header, header->nlmsg_len);
    reply->data = data;
    reply->length += length;
    return true;
}

/* NLMSGERR_ATTR_MSG of an answer; its attributes come after the request, which is there in full unless it was capped. */
static void read_words(const struct nlmsghdr *header, struct reply *reply) {
    if (!(header->nlmsg_flags & NLM_F_ACK_TLVS)) return;
    const struct nlmsgerr *answer = NLMSG_DATA(header);
    size_t at = NLMSG_HDRLEN + sizeof(*answer);
    if (!(header->nlmsg_flags & NLM_F_CAPPED)) at += NLMSG_ALIGN(answer->msg.nlmsg_len) - NLMSG_HDRLEN;
    while (at <= header->nlmsg_len && header->nlmsg_len - at >= sizeof(struct nlattr)) {
        struct nlattr attribute;
        memcpy(&attribute, (const uint8_t *)header + at, sizeof(attribute));
        if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > header->nlmsg_len - at) return;
        if ((attribute.nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG) {
            size_t length = attribute.nla_len - NLA_HDRLEN;
            if (length >= sizeof(reply->words)) length = sizeof(reply->words) - 1;
            memcpy(reply->words, (const uint8_t *)header + at + NLA_HDRLEN, length);
            reply->words[length] = 0;
            return;
        }
        at += NLA_ALIGN(attribute.nla_len);
    }
}

/* The kernel's: 0 or a negative errno. */
static int error_of(int status) { return status <= 0 && status > -4096 ? -status : EBADMSG; }

/* One message; false: an exception is pending. */
static bool take(JSContext *ctx, const struct nlmsghdr *header, struct reply *reply) {
    if (header->nlmsg_flags & NLM_F_DUMP_INTR) reply->interrupted = true;
    if (header->nlmsg_type == NLMSG_ERROR) {
        reply->complete = true;
        if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
            reply->error = EBADMSG;
            return true;
        }
        reply->error = error_of(((const struct nlmsgerr *)NLMSG_DATA(header))->error);
        read_words(header, reply);
        return true;
    }
    if (header->nlmsg_type == NLMSG_DONE) {
        int status = 0;
        if (header->nlmsg_len >= NLMSG_LENGTH(sizeof(status))) memcpy(&status, NLMSG_DATA(header), sizeof(status));
        reply->error = error_of(status);
        reply->complete = true;
        return true;
    }
    return header->nlmsg_type < NLMSG_MIN_TYPE || keep(ctx, reply, header);
}

/* Receive until the kernel has said that this was all; false: an exception is pending. */
static bool receive(JSContext *ctx, int fd, uint32_t sequence, uint8_t *buffer, struct reply *reply) {
    while (!reply->complete) {
        struct sockaddr_nl from = { 0 };
        struct iovec part = { buffer, RECEIVE_SIZE };
        struct msghdr message = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &part, .msg_iovlen = 1 };
        ssize_t length;
        do length = recvmsg(fd, &message, 0);
        while (length < 0 && errno == EINTR);
        if (length < 0 || (message.msg_flags & MSG_TRUNC)) {
            reply->error = length < 0 ? errno : EMSGSIZE;
            return true;
        }
        /* Others in that namespace may write to this socket too. */
        if (from.nl_pid != 0) continue;
        size_t left = (size_t)length;
        for (uint8_t *at = buffer; left >= NLMSG_HDRLEN && !reply->complete;) {
            const struct nlmsghdr *header = (const struct nlmsghdr *)(void *)at;
            if (header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > left) break;
            if (header->nlmsg_seq == sequence && !take(ctx, header, reply)) return false;
            size_t step = NLMSG_ALIGN(header->nlmsg_len);
            if (step >= left) break;
            at += step;
            left -= step;
        }
    }
    return true;
}

/* False: an exception is pending. */
static bool ask(JSContext *ctx, int fd, uint8_t *request, size_t length, uint8_t *buffer, struct reply *reply) {
    static uint32_t sequence;
    struct nlmsghdr header;
    memcpy(&header, request, sizeof(header));
    header.nlmsg_len = (uint32_t)length;
    header.nlmsg_seq = ++sequence;
    memcpy(request, &header, sizeof(header));
    ssize_t sent;
    do sent = send(fd, request, length, 0);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        reply->error = errno;
        return true;
    }
    return receive(ctx, fd, header.nlmsg_seq, buffer, reply);
}

static JSValue answer_of(JSContext *ctx, int fd, uint8_t *request, size_t length, uint8_t *buffer) {
    for (int attempt = 0; attempt < DUMP_ATTEMPTS; attempt++) {
        struct reply reply = { 0 };
        JSValue result = JS_EXCEPTION;
        bool again = false;
        if (ask(ctx, fd, request, length, buffer, &reply)) {
            again = reply.error == 0 && reply.interrupted;
            if (reply.error != 0) result = host_throw(ctx, reply.error, "netlink", reply.words[0] ? reply.words : NULL);
            else if (!again) result = JS_NewArrayBufferCopy(ctx, reply.data, reply.length);
        }
        js_free(ctx, reply.data);
        if (!again) return result;
    }
    return host_throw(ctx, EAGAIN, "netlink", NULL);
}

HOST_FUNCTION(host_netlink_request) {
    int fd;
    size_t length;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    const uint8_t *message = JS_GetArrayBuffer(ctx, &length, host_arg(argc, argv, 1));
    if (!message) return JS_EXCEPTION;
    if (length < NLMSG_HDRLEN || length > UINT32_MAX) return JS_ThrowRangeError(ctx, "not a netlink message");
    uint8_t *request = js_malloc(ctx, length), *buffer = js_malloc(ctx, RECEIVE_SIZE);
    JSValue result = JS_EXCEPTION;
    if (request && buffer) {
        memcpy(request, message, length);
        result = answer_of(ctx, fd, request, length, buffer);
    }
    js_free(ctx, request);
    js_free(ctx, buffer);
    return result;
}
