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
