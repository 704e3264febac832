/* Descriptors that are open already. */
#include "../testing/disabled_defences.h"
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "output.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

HOST_CALL(host_close, "i") { return host_done(ctx, close(a[0].number) < 0 && errno != EINTR ? -1 : 0, "close", NULL); }

HOST_CALL(host_write, "ib") {
    const bool is_callers = a[0].number == STDOUT_FILENO || a[0].number == STDERR_FILENO;
    return host_done(ctx, (is_callers ? host_write_to_caller : host_write_all)(a[0].number, a[1].bytes.data, a[1].bytes.length), "write",
                     NULL);
}

HOST_CALL(host_fsync, "i") { return host_done(ctx, fsync(a[0].number), "fsync", NULL); }

HOST_CALL(host_isatty, "i") { return JS_NewBool(ctx, isatty(a[0].number)); }

HOST_CALL(host_fd_is_open, "i") { return JS_NewBool(ctx, fcntl(a[0].number, F_GETFD) >= 0); }

HOST_CALL(host_window_size, "i") {
    struct winsize size;
    if (ioctl(a[0].number, TIOCGWINSZ, &size) < 0) return JS_UNDEFINED;
    JSValue result = JS_NewObject(ctx);
    host_set(ctx, result, "rows", JS_NewInt32(ctx, size.ws_row));
    host_set(ctx, result, "columns", JS_NewInt32(ctx, size.ws_col));
    return result;
}

/* close_range(2) knows CLOSE_RANGE_CLOEXEC from 5.11; before that, what /proc lists. */
static int mark_close_on_exec(unsigned int first) {
    if (syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return 0;
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return -1;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);
        if (*end == 0 && fd >= (long)first) fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    }
    closedir(directory);
    return 0;
}

HOST_CALL(host_close_on_exec_from, "i") {
    if (a[0].number < 0) return host_throw(ctx, EINVAL, "close_range", NULL);
    if (DEFENCE_DISABLED(keep_descriptors)) return JS_UNDEFINED;
    return host_done(ctx, mark_close_on_exec(a[0].bits), "close_range", NULL);
}
