/* What is known about a path: stat(2), statfs(2), access(2), extended attributes. */
#include "arguments.h"
#include "error.h"
#include "files.h"
#include "function.h"
#include "statx.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

static JSValue stat_value(JSContext *ctx, const struct stat *status) {
    JSValue object = JS_NewObject(ctx);
    if (JS_IsException(object)) return object;
    host_set(ctx, object, "dev", JS_NewBigUint64(ctx, status->st_dev));
    host_set(ctx, object, "ino", JS_NewBigUint64(ctx, status->st_ino));
    host_set(ctx, object, "mode", JS_NewUint32(ctx, status->st_mode));
    host_set(ctx, object, "nlink", JS_NewInt64(ctx, (int64_t)status->st_nlink));
    host_set(ctx, object, "uid", JS_NewUint32(ctx, status->st_uid));
    host_set(ctx, object, "gid", JS_NewUint32(ctx, status->st_gid));
    host_set(ctx, object, "rdevMajor", JS_NewUint32(ctx, major(status->st_rdev)));
    host_set(ctx, object, "rdevMinor", JS_NewUint32(ctx, minor(status->st_rdev)));
    host_set(ctx, object, "size", JS_NewInt64(ctx, status->st_size));
    return object;
}

static JSValue stat_path(JSContext *ctx, const char *path, int flags, const char *call) {
    struct stat status;
    if (fstatat(AT_FDCWD, path, &status, flags) == 0) return stat_value(ctx, &status);
    return errno == ENOENT || errno == ENOTDIR ? JS_UNDEFINED : host_throw(ctx, errno, call, path);
}

HOST_CALL(host_stat, "s") { return stat_path(ctx, a[0].text, 0, "stat"); }

HOST_CALL(host_lstat, "s") { return stat_path(ctx, a[0].text, AT_SYMLINK_NOFOLLOW, "lstat"); }

HOST_CALL(host_fstat, "i") {
    struct stat status;
    return fstat(a[0].number, &status) < 0 ? host_throw(ctx, errno, "fstat", NULL) : stat_value(ctx, &status);
}

/* Sets mount and inode of what is open there, in two members. Where a filter refuses statx(2) the mount is -1. False: errno says why. */
static bool set_open_file(JSContext *ctx, JSValueConst object, const char *path) {
    struct host_statx both;
    struct stat status;
    bool known = host_statx(AT_FDCWD, path, 0, HOST_STATX_INO | HOST_STATX_MNT_ID, &both) == 0 && (both.mask & HOST_STATX_MNT_ID);
    if (!known && stat(path, &status) < 0) return false;
    host_set(ctx, object, "mountId", JS_NewInt64(ctx, known ? (int64_t)both.mount : -1));
    host_set(ctx, object, "inode", JS_NewBigUint64(ctx, known ? both.inode : status.st_ino));
    return true;
}

/* Undefined: not open. */
static JSValue stream_of(JSContext *ctx, const char *path) {
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof(target));
    if (length < 0) return errno == ENOENT ? JS_UNDEFINED : host_throw(ctx, errno, "readlink", path);
    JSValue stream = JS_NewObject(ctx);
    host_set(ctx, stream, "link", JS_NewStringLen(ctx, target, (size_t)length));
    if (length == 0 || target[0] != '/' || set_open_file(ctx, stream, path)) return stream;
    JS_FreeValue(ctx, stream);
    return errno == ENOENT ? JS_UNDEFINED : host_throw(ctx, errno, "stat", path);
}

HOST_CALL(host_standard_streams, "s") {
    JSValue streams = JS_NewArray(ctx);
    for (uint32_t fd = 0; fd < 3; fd++) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%.20s/fd/%u", a[0].text, fd);
        JSValue stream = stream_of(ctx, path);
        if (JS_IsException(stream)) {
            JS_FreeValue(ctx, streams);
            return JS_EXCEPTION;
        }
        JS_DefinePropertyValueUint32(ctx, streams, fd, stream, JS_PROP_C_W_E);
    }
    return streams;
}

HOST_CALL(host_statfs_type, "s") {
    struct statfs status;
    return statfs(a[0].text, &status) < 0 ? host_throw(ctx, errno, "statfs", a[0].text) : JS_NewUint32(ctx, (uint32_t)status.f_type);
}

static bool allows(int directory, const char *path, int mode) {
    if (faccessat(directory, path, mode, AT_EACCESS) == 0) return true;
    /* Where faccessat2(2) is refused rather than missing; this program never runs with a real user other than the effective one. */
    return errno == EPERM && faccessat(directory, path, mode, 0) == 0;
}

HOST_CALL(host_access, "si?i") { return JS_NewBool(ctx, allows(a[2].is_given ? a[2].number : AT_FDCWD, a[0].text, a[1].number)); }

HOST_CALL(host_setxattr, "ssb") {
    return host_done(ctx, lsetxattr(a[0].text, a[1].text, a[2].bytes.data, a[2].bytes.length, 0), "lsetxattr", a[0].text);
}

HOST_CALL(host_getxattr, "ss") {
    static uint8_t value[65536]; /* XATTR_SIZE_MAX */
    ssize_t length = lgetxattr(a[0].text, a[1].text, value, sizeof(value));
    if (length >= 0) return host_utf8_string(ctx, value, (size_t)length, a[0].text);
    if (errno == ENOENT) return JS_NULL;
    return errno == ENODATA || errno == EOPNOTSUPP ? JS_UNDEFINED : host_throw(ctx, errno, "lgetxattr", a[0].text);
}
