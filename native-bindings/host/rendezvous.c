/* The pair between this process and the helper, and the mapped plan. Wire form: src/shared/protocol/messages.ts. */
#include "rendezvous.h"

#include "../shared/spin_wait.h"
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "memory_file.h"
#include "output.h"
#include "sockets.h"
#include "wait.h"
#include "protocol/messages.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

HOST_CALL(host_memfd, "sb") {
    int fd = memory_file(a[0].text, MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) fd = memory_file(a[0].text, 0);
    if (fd < 0) return host_throw(ctx, errno, "memfd_create", NULL);
    if (host_write_all(fd, a[1].bytes.data, a[1].bytes.length) < 0) return host_done(ctx, host_discard(fd), "write", NULL);
    if (memory_file_seal(fd, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) fd = host_discard(fd);
    return host_number(ctx, fd, "fcntl", NULL);
}

void spin_yield(void) { sched_yield(); }

volatile uint32_t *host_page(const struct argument *argument) { return (volatile uint32_t *)(uintptr_t)argument->bytes.data; }

HOST_CALL(host_send_message, "ii?iA") {
    const struct message_head header = { .type = a[1].bits };
    if (host_send_packet(a[0].number, &header, sizeof(header), a[2].is_given ? a[2].number : -1) < 0)
        return host_throw(ctx, errno, "sendmsg", NULL);
    spin_notify(host_page(&a[3]), PAGE_SENT_TO_HELPER);
    return JS_UNDEFINED;
}

struct received {
    struct message_head header;
    const uint8_t *path;
    const uint8_t *text;
};

static bool parse(const uint8_t *data, size_t size, struct received *out) {
    if (size < sizeof(out->header)) return false;
    memcpy(&out->header, data, sizeof(out->header));
    out->path = data + sizeof(out->header);
    const size_t left = size - sizeof(out->header);
    if (out->header.path_length > left || out->header.text_length != left - out->header.path_length) return false;
    out->text = out->path + out->header.path_length;
    return true;
}

/* 1: a message; 0: end of file; -1: errno. */
static int receive(int fd, struct packet *packet, struct received *out) {
    ssize_t length = host_receive_packet(fd, packet);
    /* The peer ended without reading our messages. That error comes once, and then its own messages can be read, and the end of file. */
    if (length < 0 && errno == ECONNRESET) length = host_receive_packet(fd, packet);
    if (length < 0) return errno == ECONNRESET ? 0 : -1;
    if (length == 0 && packet->fd_count == 0) return 0;
    if (packet->is_whole && parse(packet->data, (size_t)length, out)) return 1;
    for (unsigned i = 0; i < packet->fd_count; i++) close(packet->fds[i]);
    errno = EBADMSG;
    return -1;
}

static JSValue message_value(JSContext *ctx, const struct received *received, const struct packet *packet) {
    JSValue object = JS_NewObject(ctx);
    host_set(ctx, object, "type", JS_NewUint32(ctx, received->header.type));
    host_set(ctx, object, "op", JS_NewUint32(ctx, received->header.op));
    host_set(ctx, object, "errno", JS_NewInt32(ctx, received->header.error));
    host_set(ctx, object, "value", JS_NewInt32(ctx, received->header.value));
    host_set(ctx, object, "path", JS_NewStringLen(ctx, (const char *)received->path, received->header.path_length));
    host_set(ctx, object, "text", JS_NewStringLen(ctx, (const char *)received->text, received->header.text_length));
    host_set(ctx, object, "fds", host_numbers(ctx, packet->fds, packet->fd_count));
    return object;
}

HOST_CALL(host_receive_message, "ii?A") {
    static struct packet packet;
    struct received received;
    const int fd = a[0].number, timeout_ms = a[1].number;
    volatile uint32_t *page = host_page(&a[2]);
    if (page) spin_wait(page, PAGE_SENT_TO_RUNTIME, page[PAGE_RECEIVED_BY_RUNTIME]);
    if (timeout_ms >= 0) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        int ready = host_poll_until(&wait, 1, timeout_ms);
        if (ready < 0) return host_throw(ctx, errno, "poll", NULL);
        if (ready == 0) return host_throw(ctx, ETIMEDOUT, "recvmsg", NULL);
    }
    int status = receive(fd, &packet, &received);
    if (status < 0) return host_throw(ctx, errno, "recvmsg", NULL);
    if (page && status > 0) page[PAGE_RECEIVED_BY_RUNTIME]++;
    return status == 0 ? JS_UNDEFINED : message_value(ctx, &received, &packet);
}

HOST_CALL(host_poll, "IIi") {
    const uint32_t count = a[0].ints.count;
    if (count != a[1].ints.count) return JS_ThrowRangeError(ctx, "descriptors and events differ in number");
    struct pollfd *polled = js_mallocz(ctx, (count + 1) * sizeof(*polled));
    if (!polled) return JS_EXCEPTION;
    for (uint32_t i = 0; i < count; i++) polled[i] = (struct pollfd){ .fd = a[0].ints.items[i], .events = (short)a[1].ints.items[i] };
    JSValue result = host_done(ctx, host_poll_until(polled, count, a[2].number), "poll", NULL);
    if (!JS_IsException(result)) result = JS_NewArray(ctx);
    for (uint32_t i = 0; i < count && !JS_IsException(result); i++)
        JS_DefinePropertyValueUint32(ctx, result, i, JS_NewInt32(ctx, polled[i].revents), JS_PROP_C_W_E);
    js_free(ctx, polled);
    return result;
}
