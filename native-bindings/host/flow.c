/* Bytes between descriptors that are waited for together: pairs, and reading and writing what goes at once. */
#include "arguments.h"
#include "error.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_LIMIT ((size_t)64 << 10)

HOST_FUNCTION(host_pipe) {
    int pair[2];
    return pipe2(pair, O_CLOEXEC) < 0 ? host_throw(ctx, errno, "pipe2", NULL) : host_numbers(ctx, pair, 2);
}

HOST_FUNCTION(host_stream_pair) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) return host_throw(ctx, errno, "socketpair", NULL);
    return host_numbers(ctx, pair, 2);
}

HOST_CALL(host_set_non_blocking, "i") {
    int flags = fcntl(a[0].number, F_GETFL);
    if (flags < 0 || fcntl(a[0].number, F_SETFL, flags | O_NONBLOCK) < 0) return host_throw(ctx, errno, "fcntl", NULL);
    return JS_UNDEFINED;
}

HOST_CALL(host_read_some, "ii") {
    static uint8_t buffer[READ_LIMIT];
    const int most = a[1].number;
    size_t size = most > 0 && (size_t)most < sizeof(buffer) ? (size_t)most : sizeof(buffer);
    ssize_t length;
    do length = read(a[0].number, buffer, size);
    while (length < 0 && errno == EINTR);
    if (length < 0 && errno == EAGAIN) return JS_UNDEFINED;
    /* A terminal whose other side is closed for good, and a socket whose peer was killed, have come to their end. */
    if (length < 0 && (errno == EIO || errno == ECONNRESET)) length = 0;
    return length < 0 ? host_throw(ctx, errno, "read", NULL) : JS_NewArrayBufferCopy(ctx, buffer, (size_t)length);
}

HOST_CALL(host_write_some, "iAii") {
    const struct bytes *bytes = &a[1].bytes;
    if (a[2].number < 0 || a[3].number < 0 || (size_t)a[2].number > bytes->length) return JS_ThrowRangeError(ctx, "behind the end");
    size_t left = bytes->length - (size_t)a[2].number, most = (size_t)a[3].number;
    ssize_t written;
    do written = write(a[0].number, bytes->data + a[2].number, left < most ? left : most);
    while (written < 0 && errno == EINTR);
    if (written < 0 && errno == EAGAIN) written = 0;
    return written < 0 ? host_throw(ctx, errno, "write", NULL) : JS_NewInt64(ctx, written);
}
