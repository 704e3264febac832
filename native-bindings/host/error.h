#ifndef RUNT_HOST_ERROR_H
#define RUNT_HOST_ERROR_H
#include "function.h"

#define ERROR_TEXT_MAX 32
/* Text of an errno; one that no list names is written to `unknown`, by its number. */
const char *host_error_text(int error, char unknown[ERROR_TEXT_MAX]);
/* "ENOENT". */
JSValue host_error_name(JSContext *ctx, int error);
/* Throw a HostError; path may be NULL. Returns JS_EXCEPTION. */
JSValue host_throw(JSContext *ctx, int error, const char *syscall_name, const char *path);
/* The end of a system call that gives -1 and errno: undefined, or its HostError. */
JSValue host_done(JSContext *ctx, long status, const char *syscall_name, const char *path);
/* The same of one that gives a number: a descriptor, a pid. */
JSValue host_number(JSContext *ctx, long number, const char *syscall_name, const char *path);
/* Closes it, unless it is negative; errno stays as it is. Returns -1. */
int host_discard(int fd);

#endif
