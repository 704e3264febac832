/* Descriptors that become readable when the kernel notifies of an event: eventfd(2) and inotify(7). */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

HOST_FUNCTION(host_eventfd) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? host_throw(ctx, errno, "eventfd", NULL) : JS_NewInt32(ctx, fd);
}

HOST_FUNCTION(host_watch_modified) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    JSValue result;
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) {
        result = host_throw(ctx, errno, "inotify_init1", NULL);
    } else if (inotify_add_watch(fd, path, IN_MODIFY) < 0) {
        int error = errno;
        close(fd);
        result = host_throw(ctx, error, "inotify_add_watch", path);
    } else {
        result = JS_NewInt32(ctx, fd);
    }
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_drain) {
    int fd;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    _Alignas(struct inotify_event) char buffer[4096];
    bool found = false;
    for (;;) {
        ssize_t got = read(fd, buffer, sizeof(buffer));
        if (got > 0) found = true;
        else if (got == 0 || errno == EAGAIN) return JS_NewBool(ctx, found);
        else if (errno != EINTR) return host_throw(ctx, errno, "read", NULL);
    }
}
