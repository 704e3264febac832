/* Errors of system calls: names, texts (errno(3), first letter in lower case as Go prints them) and the HostError. */
#include "error.h"

#include "function.h"
#include "protocol/errors.h"

#include <stdio.h>
#include <unistd.h>

#define ENTRY(number, text) [number] = { #number, text },
static const struct {
    const char *name;
    const char *text;
} errors[] = { ERRORS(ENTRY) };

static bool is_known(int error) { return error > 0 && (size_t)error < ARRAY_LENGTH(errors) && errors[error].name; }

/* What the kernel may give and no list names, by its number. */
const char *host_error_text(int error, char unknown[ERROR_TEXT_MAX]) {
    if (is_known(error)) return errors[error].text;
    snprintf(unknown, ERROR_TEXT_MAX, "errno %d", error);
    return unknown;
}

JSValue host_error_name(JSContext *ctx, int error) {
    char unknown[ERROR_TEXT_MAX];
    snprintf(unknown, sizeof(unknown), "E%d", error);
    return JS_NewString(ctx, is_known(error) ? errors[error].name : unknown);
}

JSValue host_throw(JSContext *ctx, int error, const char *syscall_name, const char *path) {
    JSValue object = JS_NewError(ctx);
    if (JS_IsException(object)) return object;
    /* "open /x: no such file or directory" */
    char message[4096 + 256], unknown[ERROR_TEXT_MAX];
    const char *text = host_error_text(error, unknown);
    snprintf(message, sizeof(message), "%s%s%.4095s: %s", syscall_name, path ? " " : "", path ? path : "", text);
    JS_DefinePropertyValueStr(ctx, object, "message", JS_NewString(ctx, message), JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    host_set(ctx, object, "errno", JS_NewInt32(ctx, error));
    host_set(ctx, object, "code", host_error_name(ctx, error));
    host_set(ctx, object, "syscall", JS_NewString(ctx, syscall_name));
    if (path) host_set(ctx, object, "path", JS_NewString(ctx, path));
    return JS_Throw(ctx, object);
}

JSValue host_done(JSContext *ctx, long status, const char *syscall_name, const char *path) {
    return status < 0 ? host_throw(ctx, errno, syscall_name, path) : JS_UNDEFINED;
}

JSValue host_number(JSContext *ctx, long number, const char *syscall_name, const char *path) {
    return number < 0 ? host_throw(ctx, errno, syscall_name, path) : JS_NewInt32(ctx, (int)number);
}

int host_discard(int fd) {
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return -1;
}
