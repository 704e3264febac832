/* criu: a program with a protocol of its own over a SOCK_SEQPACKET pair. */
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "spawn.h"
#include "wait.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

extern char **environ;

/* More than criu sends: a notification is some dozens of bytes. */
#define PACKET_LIMIT ((size_t)64 << 10)
#define DESCRIPTOR_LIMIT 4

HOST_FUNCTION(host_spawn_peer) {
    struct string_vector arguments, environment = { 0, NULL };
    struct int_vector inherit;
    JSValueConst environment_value = host_arg(argc, argv, 3);
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    JSValue result = JS_EXCEPTION;
    if (!host_strings(ctx, host_arg(argc, argv, 1), 0, &arguments)) goto free_path;
    if (!host_ints(ctx, host_arg(argc, argv, 2), &inherit)) goto free_arguments;
    if (!JS_IsUndefined(environment_value) && !host_strings(ctx, environment_value, 0, &environment)) goto free_inherit;
    /* criu outlives this process: if it is killed during its work, it leaves its code in the processes that it dumps. */
    struct spawn_request request = {
        .program_fd = -1,
        .path = path,
        .argv = arguments.items,
        .envp = environment.items ? environment.items : environ,
        .inherit = inherit.items,
        .inherit_count = inherit.count,
    };
    const char *call = NULL;
    pid_t pid = host_spawn(&request, &call);
    result = pid < 0 ? host_throw(ctx, errno, call, path) : JS_NewInt32(ctx, pid);
    if (environment.items) host_free_strings(ctx, 0, &environment);
free_inherit:
    js_free(ctx, inherit.items);
free_arguments:
    host_free_strings(ctx, 0, &arguments);
free_path:
    JS_FreeCString(ctx, path);
    return result;
}

/* Descriptors of the message, close-on-exec, into a list. */
static JSValue descriptors_of(JSContext *ctx, struct msghdr *message) {
    JSValue list = JS_NewArray(ctx);
    uint32_t count = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        size_t size = part->cmsg_len - CMSG_LEN(0);
        for (size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + at, sizeof(int));
            JS_DefinePropertyValueUint32(ctx, list, count++, JS_NewInt32(ctx, fd), JS_PROP_C_W_E);
        }
    }
    return list;
}

HOST_FUNCTION(host_receive_packet) {
    static uint8_t buffer[PACKET_LIMIT];
    union {
        char space[CMSG_SPACE(DESCRIPTOR_LIMIT * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = { buffer, sizeof(buffer) };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
    int fd;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    if (host_poll_until(&wait, 1, -1) < 0) return host_throw(ctx, errno, "poll", NULL);
    ssize_t length;
    do length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    /* criu has ended without reading our message: that counts as the end of file. */
    if (length == 0 || (length < 0 && errno == ECONNRESET)) return JS_UNDEFINED;
    if (length < 0) return host_throw(ctx, errno, "recvmsg", NULL);
    JSValue packet = JS_NewObject(ctx);
    host_set(ctx, packet, "data", JS_NewArrayBufferCopy(ctx, buffer, (size_t)length));
    host_set(ctx, packet, "fds", descriptors_of(ctx, &message));
    return packet;
}
