#ifndef RUNT_HOST_ERROR_H
#define RUNT_HOST_ERROR_H
#include "function.h"

/* Throw a HostError; path may be NULL. Returns JS_EXCEPTION. */
JSValue host_throw(JSContext *ctx, int error, const char *syscall_name, const char *path);

#endif
