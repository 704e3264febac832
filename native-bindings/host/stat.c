/* What is known about a path: stat(2), statfs(2), access(2), extended attributes. */
#include "arguments.h"
#include "error.h"
#include "files.h"
#include "function.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
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

static JSValue stat_path(JSContext *ctx, int argc, JSValueConst *argv, int flags, const char *call) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    struct stat status;
    JSValue result;
    if (fstatat(AT_FDCWD, path, &status, flags) == 0) result = stat_value(ctx, &status);
    else if (errno == ENOENT || errno == ENOTDIR) result = JS_UNDEFINED;
    else result = host_throw(ctx, errno, call, path);
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_stat) { return stat_path(ctx, argc, argv, 0, "stat"); }

HOST_FUNCTION(host_lstat) { return stat_path(ctx, argc, argv, AT_SYMLINK_NOFOLLOW, "lstat"); }

HOST_FUNCTION(host_fstat) {
    int fd;
    struct stat status;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    return fstat(fd, &status) < 0 ? host_throw(ctx, errno, "fstat", NULL) : stat_value(ctx, &status);
}

/* Sets mount and inode of what is open there, in two members. Where a filter refuses statx(2) the mount is -1. False: errno says why. */
static bool set_open_file(JSContext *ctx, JSValueConst object, const char *path) {
    struct statx both;
    struct stat status;
    bool known = syscall(SYS_statx, AT_FDCWD, path, 0, STATX_INO | STATX_MNT_ID, &both) == 0 && (both.stx_mask & STATX_MNT_ID);
    if (!known && stat(path, &status) < 0) return false;
    host_set(ctx, object, "mountId", JS_NewInt64(ctx, known ? (int64_t)both.stx_mnt_id : -1));
    host_set(ctx, object, "inode", JS_NewBigUint64(ctx, known ? both.stx_ino : status.st_ino));
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

HOST_FUNCTION(host_standard_streams) {
    const char *process = host_text(ctx, host_arg(argc, argv, 0));
    if (!process) return JS_EXCEPTION;
    JSValue streams = JS_NewArray(ctx);
    for (uint32_t fd = 0; fd < 3; fd++) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%.20s/fd/%u", process, fd);
        JSValue stream = stream_of(ctx, path);
        if (JS_IsException(stream)) {
            JS_FreeValue(ctx, streams);
            streams = JS_EXCEPTION;
            break;
        }
        JS_DefinePropertyValueUint32(ctx, streams, fd, stream, JS_PROP_C_W_E);
    }
    JS_FreeCString(ctx, process);
    return streams;
}

HOST_FUNCTION(host_statfs_type) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    struct statfs status;
    JSValue result = statfs(path, &status) < 0 ? host_throw(ctx, errno, "statfs", path) : JS_NewUint32(ctx, (uint32_t)status.f_type);
    JS_FreeCString(ctx, path);
    return result;
}

static bool allows(int directory, const char *path, int mode) {
    if (faccessat(directory, path, mode, AT_EACCESS) == 0) return true;
    /* Where faccessat2(2) is refused rather than missing; this program never runs with a real user other than the effective one. */
    return errno == EPERM && faccessat(directory, path, mode, 0) == 0;
}

HOST_FUNCTION(host_access) {
    int mode, directory = AT_FDCWD;
    if (!host_int(ctx, host_arg(argc, argv, 1), &mode)) return JS_EXCEPTION;
    if (argc > 2 && !JS_IsUndefined(argv[2]) && !host_int(ctx, argv[2], &directory)) return JS_EXCEPTION;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    bool allowed = allows(directory, path, mode);
    JS_FreeCString(ctx, path);
    return JS_NewBool(ctx, allowed);
}

HOST_FUNCTION(host_setxattr) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    const char *name = path ? host_text(ctx, host_arg(argc, argv, 1)) : NULL;
    JSValue result = JS_EXCEPTION;
    struct bytes value;
    if (name && host_bytes(ctx, host_arg(argc, argv, 2), &value)) {
        result = lsetxattr(path, name, value.data, value.length, 0) < 0 ? host_throw(ctx, errno, "lsetxattr", path) : JS_UNDEFINED;
        host_free_bytes(ctx, &value);
    }
    if (name) JS_FreeCString(ctx, name);
    if (path) JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_getxattr) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    const char *name = path ? host_text(ctx, host_arg(argc, argv, 1)) : NULL;
    JSValue result = JS_EXCEPTION;
    static uint8_t value[65536]; /* XATTR_SIZE_MAX */
    if (name) {
        ssize_t length = lgetxattr(path, name, value, sizeof(value));
        if (length >= 0) result = host_utf8_string(ctx, value, (size_t)length, path);
        else if (errno == ENOENT) result = JS_NULL;
        else if (errno == ENODATA || errno == EOPNOTSUPP) result = JS_UNDEFINED;
        else result = host_throw(ctx, errno, "lgetxattr", path);
        JS_FreeCString(ctx, name);
    }
    if (path) JS_FreeCString(ctx, path);
    return result;
}
