/* Files by path, and what is read from them. Every descriptor made here is close-on-exec. */
#include "files.h"

#include "../testing/disabled_defences.h"
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "output.h"
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

static int64_t limit_of(const struct argument *argument) { return argument->is_given ? (int64_t)argument->wide : DEFAULT_LIMIT; }

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

bool host_is_own(const struct stat *status) { return status->st_uid == 0 || status->st_uid == geteuid() || DEFENCE_DISABLED(state_entry); }

/* What is opened: any path; a regular file of whoever; a file below a directory of runt's. */
enum source { ANY_TYPE, REGULAR, OWN };

/* -1: an exception is pending. *whole: as of read_all. */
static int open_to_read(JSContext *ctx, int directory, const char *path, enum source source, int64_t limit, size_t *whole) {
    int flags = source == OWN && !DEFENCE_DISABLED(state_entry) ? O_NOFOLLOW : 0;
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
    } else if (source != ANY_TYPE && !S_ISREG(status.st_mode) && !DEFENCE_DISABLED(config_type)) {
        error = EINVAL;
    } else if (source == OWN && !host_is_own(&status)) {
        error = EINVAL;
        call = "owner";
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

bool host_read_whole(JSContext *ctx, int directory, const char *path, bool own, uint8_t **data, size_t *length) {
    size_t whole;
    int fd = open_to_read(ctx, directory, path, own ? OWN : REGULAR, DEFAULT_LIMIT, &whole);
    if (fd < 0) return false;
    bool ok = read_all(ctx, fd, DEFAULT_LIMIT, whole, path, data, length);
    close(fd);
    /* There is room: the end of the file was looked for. */
    if (ok) (*data)[*length] = 0;
    return ok;
}

static JSValue read_text_file(JSContext *ctx, const char *path, enum source source, int64_t limit) {
    size_t whole;
    int fd = open_to_read(ctx, AT_FDCWD, path, source, limit, &whole);
    if (fd < 0) return JS_EXCEPTION;
    JSValue text = read_text(ctx, fd, limit, whole, path);
    close(fd);
    return text;
}

HOST_CALL(host_read_file, "s?qo") { return read_text_file(ctx, a[0].text, a[2].truth ? ANY_TYPE : REGULAR, limit_of(&a[1])); }

HOST_CALL(host_read_own, "s?q") { return read_text_file(ctx, a[0].text, OWN, limit_of(&a[1])); }

HOST_CALL(host_read_fd, "i?q") { return read_text(ctx, a[0].number, limit_of(&a[1]), 0, NULL); }

HOST_CALL(host_read_bytes, "s?q") {
    size_t whole, length;
    uint8_t *data;
    JSValue bytes = JS_EXCEPTION;
    int fd = open_to_read(ctx, AT_FDCWD, a[0].text, OWN, limit_of(&a[1]), &whole);
    if (fd >= 0 && read_all(ctx, fd, limit_of(&a[1]), whole, a[0].text, &data, &length)) {
        bytes = JS_NewArrayBufferCopy(ctx, data, length);
        js_free(ctx, data);
    }
    if (fd >= 0) close(fd);
    return bytes;
}

HOST_CALL(host_write_file, "sbii") {
    /* Only the caller's log is appended to. */
    if ((a[2].number & O_APPEND) && host_has_blocked_signals())
        return host_done(ctx, host_append(a[0].text, a[2].number | O_CLOEXEC, a[3].number, a[1].bytes.data, a[1].bytes.length), "write",
                         a[0].text);
    int fd = host_open_retry(AT_FDCWD, a[0].text, a[2].number, a[3].bits);
    if (fd < 0) return host_throw(ctx, errno, "open", a[0].text);
    if (host_write_all(fd, a[1].bytes.data, a[1].bytes.length) < 0) return host_done(ctx, host_discard(fd), "write", a[0].text);
    /* A full disk or a quota may show only here. */
    return host_done(ctx, close(fd) < 0 && errno != EINTR ? -1 : 0, "write", a[0].text);
}

/*
 * The control file that was written last stays open: of many device rules each is a write(2) of its own to the same file, and opening it costs
 * more than the write. It is close-on-exec, and holds nothing: a cgroup can be removed meanwhile.
 */
HOST_CALL(host_write_control, "sb") {
    static char last[512];
    static int fd = -1;
    const char *path = a[0].text;
    if (fd < 0 || strcmp(path, last) != 0) {
        if (fd >= 0) close(fd);
        fd = host_open_retry(AT_FDCWD, path, O_WRONLY, 0);
        if (fd < 0) return host_throw(ctx, errno, "open", path);
        last[0] = 0;
        if (strlen(path) < sizeof(last)) strcpy(last, path);
    }
    if (host_write_all(fd, a[1].bytes.data, a[1].bytes.length) < 0) fd = host_discard(fd);
    return host_done(ctx, fd, "write", path);
}

HOST_CALL(host_open, "si?i") { return host_number(ctx, host_open_retry(AT_FDCWD, a[0].text, a[1].number, a[2].bits), "open", a[0].text); }

HOST_CALL(host_openat, "isi?i") {
    return host_number(ctx, host_open_retry(a[0].number, a[1].text, a[2].number, a[3].bits), "open", a[1].text);
}
