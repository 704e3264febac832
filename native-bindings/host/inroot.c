/* Looking into a root file system, which is hostile: no link leads out of it. */
#include "host.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_MAX (1 << 20)

HOST_FUNCTION(host_open_in_root) {
    (void)this_value;
    int root, flags;
    if (!host_int(ctx, host_arg(argc, argv, 0), &root) || !host_int(ctx, host_arg(argc, argv, 2), &flags)) return JS_EXCEPTION;
    const char *path = host_text(ctx, host_arg(argc, argv, 1));
    if (!path) return JS_EXCEPTION;
    struct open_how how = {.flags = (uint64_t)(uint32_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    long fd;
    do fd = syscall(SYS_openat2, root, path, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    JSValue result = fd < 0 ? host_throw(ctx, errno, "openat2", path) : JS_NewInt32(ctx, (int32_t)fd);
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_pread) {
    (void)this_value;
    int fd;
    uint64_t offset;
    uint32_t length;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd) || !host_u64(ctx, host_arg(argc, argv, 1), &offset) ||
        !host_u32(ctx, host_arg(argc, argv, 2), &length))
        return JS_EXCEPTION;
    if (length > READ_MAX) return host_throw(ctx, EINVAL, "pread", NULL);
    uint8_t *data = js_malloc(ctx, length > 0 ? length : 1);
    if (!data) return JS_EXCEPTION;
    size_t used = 0;
    ssize_t got = 1;
    while (used < length && got != 0) {
        got = pread(fd, data + used, length - used, (off_t)(offset + used));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        used += (size_t)got;
    }
    JSValue result = got < 0 ? host_throw(ctx, errno, "pread", NULL) : JS_NewArrayBufferCopy(ctx, data, used);
    js_free(ctx, data);
    return result;
}
