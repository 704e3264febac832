/* Descriptors that are open already. */
#include "../testing/disabled_defences.h"
#include "arguments.h"
#include "error.h"
#include "files.h"
#include "function.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

HOST_FUNCTION(host_close) {
    int fd;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    if (close(fd) < 0 && errno != EINTR) return host_throw(ctx, errno, "close", NULL);
    return JS_UNDEFINED;
}

HOST_FUNCTION(host_write) {
    int fd;
    struct bytes bytes;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd) || !host_bytes(ctx, host_arg(argc, argv, 1), &bytes)) return JS_EXCEPTION;
    int status = host_write_all(fd, bytes.data, bytes.length);
    int error = errno;
    host_free_bytes(ctx, &bytes);
    return status < 0 ? host_throw(ctx, error, "write", NULL) : JS_UNDEFINED;
}

HOST_FUNCTION(host_fsync) {
    int fd;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    return fsync(fd) < 0 ? host_throw(ctx, errno, "fsync", NULL) : JS_UNDEFINED;
}

HOST_FUNCTION(host_isatty) {
    int fd;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    return JS_NewBool(ctx, isatty(fd));
}

HOST_FUNCTION(host_window_size) {
    int fd;
    struct winsize size;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0) return JS_UNDEFINED;
    JSValue result = JS_NewObject(ctx);
    if (JS_IsException(result)) return result;
    JS_DefinePropertyValueStr(ctx, result, "rows", JS_NewInt32(ctx, size.ws_row), JS_PROP_C_W_E);
    JS_DefinePropertyValueStr(ctx, result, "columns", JS_NewInt32(ctx, size.ws_col), JS_PROP_C_W_E);
    return result;
}

HOST_FUNCTION(host_fd_is_open) {
    int fd;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    return JS_NewBool(ctx, fcntl(fd, F_GETFD) >= 0);
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

HOST_FUNCTION(host_close_on_exec_from) {
    int first;
    if (!host_int(ctx, host_arg(argc, argv, 0), &first)) return JS_EXCEPTION;
    if (first < 0) return host_throw(ctx, EINVAL, "close_range", NULL);
    if (DEFENCE_DISABLED(keep_descriptors)) return JS_UNDEFINED;
    return mark_close_on_exec((unsigned int)first) < 0 ? host_throw(ctx, errno, "close_range", NULL) : JS_UNDEFINED;
}
