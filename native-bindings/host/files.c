/* Files by path, and what is read from them. Every descriptor made here is close-on-exec. */
#include "files.h"

#include "../testing/disabled_defences.h"
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "text.h"
#include "wait.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_LIMIT ((int64_t)64 << 20)

int host_open_retry(int directory, const char *path, int flags, mode_t mode) {
    int fd;
    do fd = openat(directory, path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static bool optional_limit(JSContext *ctx, JSValueConst value, int64_t *limit) {
    *limit = DEFAULT_LIMIT;
    return JS_IsUndefined(value) || JS_ToInt64(ctx, limit, value) == 0;
}

/* The rest of a descriptor. One byte above the limit tells "too big". So many bytes of `whole` are all; 0: unknown. False: an exception is pending. */
static bool read_all(JSContext *ctx, int fd, int64_t limit, size_t whole, const char *path, uint8_t **out, size_t *out_length) {
    size_t capacity = (whole ? whole : 4095) + 1, length = 0;
    uint8_t *data = js_malloc(ctx, capacity);
    if (!data) return false;
    for (;;) {
        if (length == capacity) {
            uint8_t *grown = js_realloc(ctx, data, capacity * 2);
            if (!grown) {
                js_free(ctx, data);
                return false;
            }
            data = grown;
            capacity *= 2;
        }
        ssize_t got = read(fd, data + length, capacity - length);
        if (got < 0 && errno == EINTR) continue;
        /* What a FIFO has had so far. */
        if (got < 0 && errno == EAGAIN && length > 0) break;
        if (got < 0 || (int64_t)(length + (size_t)got) > limit) {
            int error = got < 0 ? errno : EFBIG;
            js_free(ctx, data);
            host_throw(ctx, error, "read", path);
            return false;
        }
        if (got == 0) break;
        length += (size_t)got;
        if (length == whole) break;
    }
    *out = data;
    *out_length = length;
    return true;
}

static JSValue read_text(JSContext *ctx, int fd, int64_t limit, size_t whole, const char *path) {
    uint8_t *data;
    size_t length;
    if (!read_all(ctx, fd, limit, whole, path, &data, &length)) return JS_EXCEPTION;
    JSValue text = host_utf8_string(ctx, data, length, path);
    js_free(ctx, data);
    return text;
}

/* -1: an exception is pending. *whole: as of read_all. */
static int open_to_read(JSContext *ctx, int directory, const char *path, int flags, int64_t limit, bool any_type, size_t *whole) {
    int fd = host_open_retry(directory, path, flags | O_RDONLY | (DEFENCE_DISABLED(config_type) ? 0 : O_NONBLOCK) | O_NOCTTY, 0);
    if (fd < 0) {
        host_throw(ctx, errno, "open", path);
        return -1;
    }
    struct stat status;
    int error = 0;
    const char *call = "read";
    if (fstat(fd, &status) < 0) {
        error = errno;
        call = "fstat";
    } else if (S_ISDIR(status.st_mode)) {
        error = EISDIR;
    } else if (!any_type && !S_ISREG(status.st_mode) && !DEFENCE_DISABLED(config_type)) {
        error = EINVAL;
    } else if (status.st_size > limit) {
        error = EFBIG;
    }
    if (error) {
        close(fd);
        host_throw(ctx, error, call, path);
        return -1;
    }
    /* Files of proc, sysfs and cgroupfs say 0 or 4096 whatever they hold. */
    *whole = status.st_size % 4096 ? (size_t)status.st_size : 0;
    return fd;
}

static JSValue read_path(JSContext *ctx, const char *path, int64_t limit, bool any_type) {
    size_t whole;
    int fd = open_to_read(ctx, AT_FDCWD, path, 0, limit, any_type, &whole);
    if (fd < 0) return JS_EXCEPTION;
    JSValue text = read_text(ctx, fd, limit, whole, path);
    close(fd);
    return text;
}

bool host_read_whole(JSContext *ctx, int directory, const char *path, uint8_t **data, size_t *length) {
    size_t whole;
    int fd = open_to_read(ctx, directory, path, 0, DEFAULT_LIMIT, false, &whole);
    if (fd < 0) return false;
    bool ok = read_all(ctx, fd, DEFAULT_LIMIT, whole, path, data, length);
    close(fd);
    /* There is room: the end of the file was looked for. */
    if (ok) (*data)[*length] = 0;
    return ok;
}

HOST_FUNCTION(host_read_file) {
    int64_t limit;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    JSValue text = JS_EXCEPTION;
    if (optional_limit(ctx, host_arg(argc, argv, 1), &limit))
        text = read_path(ctx, path, limit, JS_ToBool(ctx, host_arg(argc, argv, 2)) > 0);
    JS_FreeCString(ctx, path);
    return text;
}

HOST_FUNCTION(host_read_fd) {
    int fd;
    int64_t limit;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd) || !optional_limit(ctx, host_arg(argc, argv, 1), &limit)) return JS_EXCEPTION;
    return read_text(ctx, fd, limit, 0, NULL);
}

HOST_FUNCTION(host_read_bytes) {
    int64_t limit;
    size_t whole, length;
    uint8_t *data;
    if (!optional_limit(ctx, host_arg(argc, argv, 1), &limit)) return JS_EXCEPTION;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    JSValue bytes = JS_EXCEPTION;
    int fd = open_to_read(ctx, AT_FDCWD, path, O_NOFOLLOW, limit, false, &whole);
    if (fd >= 0 && read_all(ctx, fd, limit, whole, path, &data, &length)) {
        bytes = JS_NewArrayBufferCopy(ctx, data, length);
        js_free(ctx, data);
    }
    if (fd >= 0) close(fd);
    JS_FreeCString(ctx, path);
    return bytes;
}

int host_write_all(int fd, const uint8_t *data, size_t length) {
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) {
            struct pollfd wait = { .fd = fd, .events = POLLOUT };
            host_poll_until(&wait, 1, -1);
            continue;
        }
        if (put < 0) return -1;
        data += put;
        length -= (size_t)put;
    }
    return 0;
}

/* open + write all + close; -1 and errno, *call is what failed. */
static int write_path(const char *path, const uint8_t *data, size_t length, int flags, mode_t mode, const char **call) {
    int fd = host_open_retry(AT_FDCWD, path, flags, mode);
    *call = "open";
    if (fd < 0) return -1;
    *call = "write";
    int status = host_write_all(fd, data, length);
    int error = errno;
    /* A full disk or a quota may show only here. */
    if (close(fd) < 0 && status == 0 && errno != EINTR) {
        status = -1;
        error = errno;
    }
    errno = error;
    return status;
}

HOST_FUNCTION(host_write_file) {
    int flags, mode;
    struct bytes bytes;
    if (!host_int(ctx, host_arg(argc, argv, 2), &flags) || !host_int(ctx, host_arg(argc, argv, 3), &mode)) return JS_EXCEPTION;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    JSValue result = JS_EXCEPTION;
    if (host_bytes(ctx, host_arg(argc, argv, 1), &bytes)) {
        const char *call;
        int status = write_path(path, bytes.data, bytes.length, flags, (mode_t)mode, &call);
        result = status < 0 ? host_throw(ctx, errno, call, path) : JS_UNDEFINED;
        host_free_bytes(ctx, &bytes);
    }
    JS_FreeCString(ctx, path);
    return result;
}

/*
 * The control file that was written last stays open: of many device rules each is a write(2) of its own to the same file, and opening it costs
 * more than the write. It is close-on-exec, and holds nothing: a cgroup can be removed meanwhile.
 */
HOST_FUNCTION(host_write_control) {
    static char last[512];
    static int open_fd = -1;
    struct bytes bytes;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    JSValue result = JS_EXCEPTION;
    if (host_bytes(ctx, host_arg(argc, argv, 1), &bytes)) {
        if (open_fd < 0 || strcmp(path, last) != 0) {
            if (open_fd >= 0) close(open_fd);
            open_fd = host_open_retry(AT_FDCWD, path, O_WRONLY, 0);
            last[0] = 0;
            if (strlen(path) < sizeof(last)) strcpy(last, path);
        }
        const char *call = open_fd < 0 ? "open" : "write";
        if (open_fd >= 0 && host_write_all(open_fd, bytes.data, bytes.length) == 0) {
            result = JS_UNDEFINED;
        } else {
            result = host_throw(ctx, errno, call, path);
            if (open_fd >= 0) close(open_fd);
            open_fd = -1;
        }
        host_free_bytes(ctx, &bytes);
    }
    JS_FreeCString(ctx, path);
    return result;
}

static JSValue open_in(JSContext *ctx, int directory, int argc, JSValueConst *argv) {
    int flags, mode = 0;
    if (!host_int(ctx, host_arg(argc, argv, 1), &flags)) return JS_EXCEPTION;
    if (argc > 2 && !JS_IsUndefined(argv[2]) && !host_int(ctx, argv[2], &mode)) return JS_EXCEPTION;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    int fd = host_open_retry(directory, path, flags, (mode_t)mode);
    JSValue result = fd < 0 ? host_throw(ctx, errno, "open", path) : JS_NewInt32(ctx, fd);
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_open) { return open_in(ctx, AT_FDCWD, argc, argv); }

HOST_FUNCTION(host_openat) {
    int directory;
    if (!host_int(ctx, host_arg(argc, argv, 0), &directory)) return JS_EXCEPTION;
    return open_in(ctx, directory, argc - 1, argv + 1);
}
