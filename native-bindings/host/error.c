/* Errors of system calls: names, texts (errno(3), first letter in lower case as Go prints them) and the HostError. */
#include "error.h"

#include "arguments.h"
#include "function.h"

#include <stdio.h>

static const struct {
    const char *name;
    const char *text;
} errors[] = {
    [EPERM] = { "EPERM", "operation not permitted" },
    [ENOENT] = { "ENOENT", "no such file or directory" },
    [ESRCH] = { "ESRCH", "no such process" },
    [EINTR] = { "EINTR", "interrupted system call" },
    [EIO] = { "EIO", "input/output error" },
    [ENXIO] = { "ENXIO", "no such device or address" },
    [E2BIG] = { "E2BIG", "argument list too long" },
    [ENOEXEC] = { "ENOEXEC", "exec format error" },
    [EBADF] = { "EBADF", "bad file descriptor" },
    [ECHILD] = { "ECHILD", "no child processes" },
    [EAGAIN] = { "EAGAIN", "resource temporarily unavailable" },
    [ENOMEM] = { "ENOMEM", "cannot allocate memory" },
    [EACCES] = { "EACCES", "permission denied" },
    [EFAULT] = { "EFAULT", "bad address" },
    [ENOTBLK] = { "ENOTBLK", "block device required" },
    [EBUSY] = { "EBUSY", "device or resource busy" },
    [EEXIST] = { "EEXIST", "file exists" },
    [EXDEV] = { "EXDEV", "invalid cross-device link" },
    [ENODEV] = { "ENODEV", "no such device" },
    [ENOTDIR] = { "ENOTDIR", "not a directory" },
    [EISDIR] = { "EISDIR", "is a directory" },
    [EINVAL] = { "EINVAL", "invalid argument" },
    [ENFILE] = { "ENFILE", "too many open files in system" },
    [EMFILE] = { "EMFILE", "too many open files" },
    [ENOTTY] = { "ENOTTY", "inappropriate ioctl for device" },
    [ETXTBSY] = { "ETXTBSY", "text file busy" },
    [EFBIG] = { "EFBIG", "file too large" },
    [ENOSPC] = { "ENOSPC", "no space left on device" },
    [ESPIPE] = { "ESPIPE", "illegal seek" },
    [EROFS] = { "EROFS", "read-only file system" },
    [EMLINK] = { "EMLINK", "too many links" },
    [EPIPE] = { "EPIPE", "broken pipe" },
    [EDOM] = { "EDOM", "numerical argument out of domain" },
    [ERANGE] = { "ERANGE", "numerical result out of range" },
    [EDEADLK] = { "EDEADLK", "resource deadlock avoided" },
    [ENAMETOOLONG] = { "ENAMETOOLONG", "file name too long" },
    [ENOLCK] = { "ENOLCK", "no locks available" },
    [ENOSYS] = { "ENOSYS", "function not implemented" },
    [ENOTEMPTY] = { "ENOTEMPTY", "directory not empty" },
    [ELOOP] = { "ELOOP", "too many levels of symbolic links" },
    [ENOMSG] = { "ENOMSG", "no message of desired type" },
    [EIDRM] = { "EIDRM", "identifier removed" },
    [ECHRNG] = { "ECHRNG", "channel number out of range" },
    [EL2NSYNC] = { "EL2NSYNC", "level 2 not synchronized" },
    [EL3HLT] = { "EL3HLT", "level 3 halted" },
    [EL3RST] = { "EL3RST", "level 3 reset" },
    [ELNRNG] = { "ELNRNG", "link number out of range" },
    [EUNATCH] = { "EUNATCH", "protocol driver not attached" },
    [ENOCSI] = { "ENOCSI", "no CSI structure available" },
    [EL2HLT] = { "EL2HLT", "level 2 halted" },
    [EBADE] = { "EBADE", "invalid exchange" },
    [EBADR] = { "EBADR", "invalid request descriptor" },
    [EXFULL] = { "EXFULL", "exchange full" },
    [ENOANO] = { "ENOANO", "no anode" },
    [EBADRQC] = { "EBADRQC", "invalid request code" },
    [EBADSLT] = { "EBADSLT", "invalid slot" },
    [EBFONT] = { "EBFONT", "bad font file format" },
    [ENOSTR] = { "ENOSTR", "device not a stream" },
    [ENODATA] = { "ENODATA", "no data available" },
    [ETIME] = { "ETIME", "timer expired" },
    [ENOSR] = { "ENOSR", "out of streams resources" },
    [ENONET] = { "ENONET", "machine is not on the network" },
    [ENOPKG] = { "ENOPKG", "package not installed" },
    [EREMOTE] = { "EREMOTE", "object is remote" },
    [ENOLINK] = { "ENOLINK", "link has been severed" },
    [EADV] = { "EADV", "advertise error" },
    [ESRMNT] = { "ESRMNT", "srmount error" },
    [ECOMM] = { "ECOMM", "communication error on send" },
    [EPROTO] = { "EPROTO", "protocol error" },
    [EMULTIHOP] = { "EMULTIHOP", "multihop attempted" },
    [EDOTDOT] = { "EDOTDOT", "RFS specific error" },
    [EBADMSG] = { "EBADMSG", "bad message" },
    [EOVERFLOW] = { "EOVERFLOW", "value too large for defined data type" },
    [ENOTUNIQ] = { "ENOTUNIQ", "name not unique on network" },
    [EBADFD] = { "EBADFD", "file descriptor in bad state" },
    [EREMCHG] = { "EREMCHG", "remote address changed" },
    [ELIBACC] = { "ELIBACC", "can not access a needed shared library" },
    [ELIBBAD] = { "ELIBBAD", "accessing a corrupted shared library" },
    [ELIBSCN] = { "ELIBSCN", ".lib section in a.out corrupted" },
    [ELIBMAX] = { "ELIBMAX", "attempting to link in too many shared libraries" },
    [ELIBEXEC] = { "ELIBEXEC", "cannot exec a shared library directly" },
    [EILSEQ] = { "EILSEQ", "invalid or incomplete multibyte or wide character" },
    [ERESTART] = { "ERESTART", "interrupted system call should be restarted" },
    [ESTRPIPE] = { "ESTRPIPE", "streams pipe error" },
    [EUSERS] = { "EUSERS", "too many users" },
    [ENOTSOCK] = { "ENOTSOCK", "socket operation on non-socket" },
    [EDESTADDRREQ] = { "EDESTADDRREQ", "destination address required" },
    [EMSGSIZE] = { "EMSGSIZE", "message too long" },
    [EPROTOTYPE] = { "EPROTOTYPE", "protocol wrong type for socket" },
    [ENOPROTOOPT] = { "ENOPROTOOPT", "protocol not available" },
    [EPROTONOSUPPORT] = { "EPROTONOSUPPORT", "protocol not supported" },
    [ESOCKTNOSUPPORT] = { "ESOCKTNOSUPPORT", "socket type not supported" },
    [EOPNOTSUPP] = { "EOPNOTSUPP", "operation not supported" },
    [EPFNOSUPPORT] = { "EPFNOSUPPORT", "protocol family not supported" },
    [EAFNOSUPPORT] = { "EAFNOSUPPORT", "address family not supported by protocol" },
    [EADDRINUSE] = { "EADDRINUSE", "address already in use" },
    [EADDRNOTAVAIL] = { "EADDRNOTAVAIL", "cannot assign requested address" },
    [ENETDOWN] = { "ENETDOWN", "network is down" },
    [ENETUNREACH] = { "ENETUNREACH", "network is unreachable" },
    [ENETRESET] = { "ENETRESET", "network dropped connection on reset" },
    [ECONNABORTED] = { "ECONNABORTED", "software caused connection abort" },
    [ECONNRESET] = { "ECONNRESET", "connection reset by peer" },
    [ENOBUFS] = { "ENOBUFS", "no buffer space available" },
    [EISCONN] = { "EISCONN", "transport endpoint is already connected" },
    [ENOTCONN] = { "ENOTCONN", "transport endpoint is not connected" },
    [ESHUTDOWN] = { "ESHUTDOWN", "cannot send after transport endpoint shutdown" },
    [ETOOMANYREFS] = { "ETOOMANYREFS", "too many references: cannot splice" },
    [ETIMEDOUT] = { "ETIMEDOUT", "connection timed out" },
    [ECONNREFUSED] = { "ECONNREFUSED", "connection refused" },
    [EHOSTDOWN] = { "EHOSTDOWN", "host is down" },
    [EHOSTUNREACH] = { "EHOSTUNREACH", "no route to host" },
    [EALREADY] = { "EALREADY", "operation already in progress" },
    [EINPROGRESS] = { "EINPROGRESS", "operation now in progress" },
    [ESTALE] = { "ESTALE", "stale file handle" },
    [EUCLEAN] = { "EUCLEAN", "structure needs cleaning" },
    [ENOTNAM] = { "ENOTNAM", "not a XENIX named type file" },
    [ENAVAIL] = { "ENAVAIL", "no XENIX semaphores available" },
    [EISNAM] = { "EISNAM", "is a named type file" },
    [EREMOTEIO] = { "EREMOTEIO", "remote I/O error" },
    [EDQUOT] = { "EDQUOT", "disk quota exceeded" },
    [ENOMEDIUM] = { "ENOMEDIUM", "no medium found" },
    [EMEDIUMTYPE] = { "EMEDIUMTYPE", "wrong medium type" },
    [ECANCELED] = { "ECANCELED", "operation canceled" },
    [ENOKEY] = { "ENOKEY", "required key not available" },
    [EKEYEXPIRED] = { "EKEYEXPIRED", "key has expired" },
    [EKEYREVOKED] = { "EKEYREVOKED", "key has been revoked" },
    [EKEYREJECTED] = { "EKEYREJECTED", "key was rejected by service" },
    [EOWNERDEAD] = { "EOWNERDEAD", "owner died" },
    [ENOTRECOVERABLE] = { "ENOTRECOVERABLE", "state not recoverable" },
    [ERFKILL] = { "ERFKILL", "operation not possible due to RF-kill" },
    [EHWPOISON] = { "EHWPOISON", "memory page has hardware error" },
};

const char *host_errno_name(int error) {
    if (error <= 0 || (size_t)error >= ARRAY_LENGTH(errors) || !errors[error].name) return NULL;
    return errors[error].name;
}

const char *host_errno_text(int error) {
    if (error <= 0 || (size_t)error >= ARRAY_LENGTH(errors) || !errors[error].name) return NULL;
    return errors[error].text;
}

static JSValue name_value(JSContext *ctx, int error) {
    const char *name = host_errno_name(error);
    if (name) return JS_NewString(ctx, name);
    char number[16];
    snprintf(number, sizeof(number), "E%d", error);
    return JS_NewString(ctx, number);
}

static JSValue text_value(JSContext *ctx, int error) {
    const char *text = host_errno_text(error);
    if (text) return JS_NewString(ctx, text);
    char number[32];
    snprintf(number, sizeof(number), "errno %d", error);
    return JS_NewString(ctx, number);
}

JSValue host_throw(JSContext *ctx, int error, const char *syscall_name, const char *path) {
    JSValue object = JS_NewError(ctx);
    if (JS_IsException(object)) return object;
    /* "open /x: no such file or directory" */
    char message[4096 + 256];
    const char *text = host_errno_text(error);
    char number[32];
    if (!text) {
        snprintf(number, sizeof(number), "errno %d", error);
        text = number;
    }
    snprintf(message, sizeof(message), "%s%s%.4095s: %s", syscall_name, path ? " " : "", path ? path : "", text);
    JS_DefinePropertyValueStr(ctx, object, "message", JS_NewString(ctx, message), JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    host_set(ctx, object, "errno", JS_NewInt32(ctx, error));
    host_set(ctx, object, "code", name_value(ctx, error));
    host_set(ctx, object, "syscall", JS_NewString(ctx, syscall_name));
    if (path) host_set(ctx, object, "path", JS_NewString(ctx, path));
    return JS_Throw(ctx, object);
}

HOST_FUNCTION(host_strerror) {
    int error;
    if (!host_int(ctx, host_arg(argc, argv, 0), &error)) return JS_EXCEPTION;
    return text_value(ctx, error);
}

HOST_FUNCTION(host_errno_name_js) {
    int error;
    if (!host_int(ctx, host_arg(argc, argv, 0), &error)) return JS_EXCEPTION;
    return name_value(ctx, error);
}
