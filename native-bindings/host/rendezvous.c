/* The pair between this process and the helper, and the mapped plan. Wire form: src/shared/protocol/messages.ts. */
#include "rendezvous.h"

#include "../shared/spin_wait.h"
#include "arguments.h"
#include "error.h"
#include "files.h"
#include "function.h"
#include "listener.h"
#include "wait.h"
#include "protocol/messages.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_LIMIT ((size_t)64 << 10)
#define DESCRIPTOR_LIMIT 16

HOST_FUNCTION(host_memfd) {
    const char *name = host_text(ctx, host_arg(argc, argv, 0));
    if (!name) return JS_EXCEPTION;
    struct bytes bytes;
    if (!host_bytes(ctx, host_arg(argc, argv, 1), &bytes)) {
        JS_FreeCString(ctx, name);
        return JS_EXCEPTION;
    }
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif
    const char *call = "memfd_create";
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0 && host_write_all(fd, bytes.data, bytes.length) < 0) {
        error = errno;
        call = "write";
    } else if (fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) {
        error = errno;
        call = "fcntl";
    }
    if (error && fd >= 0) close(fd);
    JSValue result = error ? host_throw(ctx, error, call, NULL) : JS_NewInt32(ctx, fd);
    host_free_bytes(ctx, &bytes);
    JS_FreeCString(ctx, name);
    return result;
}

HOST_FUNCTION(host_socketpair) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return host_throw(ctx, errno, "socketpair", NULL);
    JSValue list = JS_NewArray(ctx);
    JS_DefinePropertyValueUint32(ctx, list, 0, JS_NewInt32(ctx, pair[0]), JS_PROP_C_W_E);
    JS_DefinePropertyValueUint32(ctx, list, 1, JS_NewInt32(ctx, pair[1]), JS_PROP_C_W_E);
    return list;
}

void spin_yield(void) { sched_yield(); }

bool host_page(JSContext *ctx, JSValueConst value, volatile uint32_t **page) {
    size_t size;
    *page = NULL;
    if (JS_IsUndefined(value)) return true;
    *page = (volatile uint32_t *)JS_GetArrayBuffer(ctx, &size, value);
    return *page != NULL;
}

HOST_FUNCTION(host_send_message) {
    int fd, descriptor = -1;
    struct message_head header = { 0 };
    volatile uint32_t *page;
    JSValueConst extra = host_arg(argc, argv, 2);
    if (!host_page(ctx, host_arg(argc, argv, 3), &page)) return JS_EXCEPTION;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd) || !host_u32(ctx, host_arg(argc, argv, 1), &header.type)) return JS_EXCEPTION;
    if (!JS_IsUndefined(extra) && !host_int(ctx, extra, &descriptor)) return JS_EXCEPTION;
    struct iovec part = { &header, sizeof(header) };
    if (host_send_with(fd, &part, descriptor) < 0) return host_throw(ctx, errno, "sendmsg", NULL);
    spin_notify(page, PAGE_SENT_TO_HELPER);
    return JS_UNDEFINED;
}

struct received {
    struct message_head header;
    const uint8_t *path;
    const uint8_t *text;
    int fds[DESCRIPTOR_LIMIT];
    unsigned fd_count;
};

static void take_descriptors(struct msghdr *message, struct received *out) {
    out->fd_count = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
            if (out->fd_count < DESCRIPTOR_LIMIT) out->fds[out->fd_count++] = fd;
            else close(fd);
        }
    }
}

/* 1: a message; 0: end of file; -1: errno. */
static int receive(int fd, uint8_t *buffer, struct received *out) {
    union {
        char space[CMSG_SPACE(DESCRIPTOR_LIMIT * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = { buffer, MESSAGE_LIMIT };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
    ssize_t length;
    bool is_reset = false;
    /* The peer ended without reading our messages. That error comes once, and then its own messages can be read, and the end of file. */
    do length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && (errno == EINTR || (errno == ECONNRESET && !is_reset && (is_reset = true))));
    if (length < 0) return errno == ECONNRESET ? 0 : -1;
    take_descriptors(&message, out);
    if (length == 0 && out->fd_count == 0) return 0;
    size_t size = (size_t)length;
    bool whole = size >= sizeof(out->header) && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    if (whole) {
        memcpy(&out->header, buffer, sizeof(out->header));
        out->path = buffer + sizeof(out->header);
        size_t left = size - sizeof(out->header);
        whole = out->header.path_length <= left && out->header.text_length == left - out->header.path_length;
        if (whole) out->text = out->path + out->header.path_length;
    }
    if (whole) return 1;
    for (unsigned i = 0; i < out->fd_count; i++) close(out->fds[i]);
    errno = EBADMSG;
    return -1;
}

static JSValue message_value(JSContext *ctx, const struct received *received) {
    JSValue object = JS_NewObject(ctx);
    JSValue fds = JS_NewArray(ctx);
    host_set(ctx, object, "type", JS_NewUint32(ctx, received->header.type));
    host_set(ctx, object, "op", JS_NewUint32(ctx, received->header.op));
    host_set(ctx, object, "errno", JS_NewInt32(ctx, received->header.error));
    host_set(ctx, object, "value", JS_NewInt32(ctx, received->header.value));
    host_set(ctx, object, "path", JS_NewStringLen(ctx, (const char *)received->path, received->header.path_length));
    host_set(ctx, object, "text", JS_NewStringLen(ctx, (const char *)received->text, received->header.text_length));
    for (unsigned i = 0; i < received->fd_count; i++)
        JS_DefinePropertyValueUint32(ctx, fds, i, JS_NewInt32(ctx, received->fds[i]), JS_PROP_C_W_E);
    host_set(ctx, object, "fds", fds);
    return object;
}

HOST_FUNCTION(host_receive_message) {
    int fd, timeout_ms;
    static uint8_t buffer[MESSAGE_LIMIT];
    struct received received;
    volatile uint32_t *page;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd) || !host_int(ctx, host_arg(argc, argv, 1), &timeout_ms)) return JS_EXCEPTION;
    if (!host_page(ctx, host_arg(argc, argv, 2), &page)) return JS_EXCEPTION;
    if (page) spin_wait(page, PAGE_SENT_TO_RUNTIME, page[PAGE_RECEIVED_BY_RUNTIME]);
    if (timeout_ms >= 0) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        int ready = host_poll_until(&wait, 1, timeout_ms);
        if (ready < 0) return host_throw(ctx, errno, "poll", NULL);
        if (ready == 0) return host_throw(ctx, ETIMEDOUT, "recvmsg", NULL);
    }
    int status = receive(fd, buffer, &received);
    if (status < 0) return host_throw(ctx, errno, "recvmsg", NULL);
    if (page && status > 0) page[PAGE_RECEIVED_BY_RUNTIME]++;
    return status == 0 ? JS_UNDEFINED : message_value(ctx, &received);
}

HOST_FUNCTION(host_poll) {
    struct int_vector fds = { 0, NULL }, events = { 0, NULL };
    int timeout_ms;
    JSValue result = JS_EXCEPTION;
    struct pollfd *polled = NULL;
    if (!host_int(ctx, host_arg(argc, argv, 2), &timeout_ms)) return JS_EXCEPTION;
    if (!host_ints(ctx, host_arg(argc, argv, 0), &fds) || !host_ints(ctx, host_arg(argc, argv, 1), &events)) goto done;
    if (fds.count != events.count) {
        result = JS_ThrowRangeError(ctx, "descriptors and events differ in number");
        goto done;
    }
    polled = js_mallocz(ctx, (fds.count + 1) * sizeof(*polled));
    if (!polled) goto done;
    for (uint32_t i = 0; i < fds.count; i++) {
        polled[i].fd = fds.items[i];
        polled[i].events = (short)events.items[i];
    }
    if (host_poll_until(polled, fds.count, timeout_ms) < 0) {
        result = host_throw(ctx, errno, "poll", NULL);
        goto done;
    }
    result = JS_NewArray(ctx);
    for (uint32_t i = 0; i < fds.count; i++)
        JS_DefinePropertyValueUint32(ctx, result, i, JS_NewInt32(ctx, polled[i].revents), JS_PROP_C_W_E);
done:
    js_free(ctx, polled);
    js_free(ctx, fds.items);
    js_free(ctx, events.items);
    return result;
}
