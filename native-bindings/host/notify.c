/* Descriptors that become readable when the kernel notifies of an event: eventfd(2) and inotify(7). */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

HOST_FUNCTION(host_eventfd) { return host_number(ctx, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd", NULL); }

HOST_CALL(host_watch_modified, "s") {
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) return host_throw(ctx, errno, "inotify_init1", NULL);
    if (inotify_add_watch(fd, a[0].text, IN_MODIFY) < 0) fd = host_discard(fd);
    return host_number(ctx, fd, "inotify_add_watch", a[0].text);
}

HOST_CALL(host_drain, "i") {
    _Alignas(struct inotify_event) char buffer[4096];
    bool found = false;
    for (;;) {
        ssize_t got = read(a[0].number, buffer, sizeof(buffer));
        if (got > 0) found = true;
        else if (got == 0 || errno == EAGAIN) return JS_NewBool(ctx, found);
        else if (errno != EINTR) return host_throw(ctx, errno, "read", NULL);
    }
}
