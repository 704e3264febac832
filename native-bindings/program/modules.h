#ifndef RUNT_PROGRAM_MODULES_H
#define RUNT_PROGRAM_MODULES_H
#include <stdbool.h>

#include <quickjs.h>

void host_init_loader(JSRuntime *rt);
/* Read every module that is not left out and evaluate those that are meant to be; false: an exception is pending. */
bool host_preload_modules(JSContext *ctx);
/* Evaluate an embedded module; the promise of its end, or JS_EXCEPTION. */
JSValue host_evaluate_module(JSContext *ctx, const char *name, JSModuleDef **module);

#endif
