/* Errors of system calls: names, texts (errno(3), first letter in lower case as Go prints them) and the HostError. */
#include "error.h"

#include "arguments.h"
#include "function.h"
#include "protocol/errors.h"

#include <stdio.h>

#define ENTRY(number, text) [number] = { #number, text },
static const struct {
    const char *name;
    const char *text;
} errors[] = { ERRORS(ENTRY) };

#define UNKNOWN_MAX 32

static bool is_known(int error) { return error > 0 && (size_t)error < ARRAY_LENGTH(errors) && errors[error].name; }

/* What the kernel may give and no list names, by its number. */
static const char *text_of(int error, char unknown[UNKNOWN_MAX]) {
    if (is_known(error)) return errors[error].text;
    snprintf(unknown, UNKNOWN_MAX, "errno %d", error);
    return unknown;
}

static JSValue name_value(JSContext *ctx, int error) {
    char unknown[UNKNOWN_MAX];
    snprintf(unknown, sizeof(unknown), "E%d", error);
    return JS_NewString(ctx, is_known(error) ? errors[error].name : unknown);
}

JSValue host_throw(JSContext *ctx, int error, const char *syscall_name, const char *path) {
    JSValue object = JS_NewError(ctx);
    if (JS_IsException(object)) return object;
    /* "open /x: no such file or directory" */
    char message[4096 + 256], unknown[UNKNOWN_MAX];
    snprintf(message, sizeof(message), "%s%s%.4095s: %s", syscall_name, path ? " " : "", path ? path : "", text_of(error, unknown));
    JS_DefinePropertyValueStr(ctx, object, "message", JS_NewString(ctx, message), JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    host_set(ctx, object, "errno", JS_NewInt32(ctx, error));
    host_set(ctx, object, "code", name_value(ctx, error));
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

HOST_CALL(host_strerror, "i") {
    char unknown[UNKNOWN_MAX];
    return JS_NewString(ctx, text_of(a[0].number, unknown));
}

HOST_CALL(host_errno_name_js, "i") { return name_value(ctx, a[0].number); }
