/* What --trace measures with (src/runtime/trace): nothing here is called without it. */
#include "trace.h"

#include "../host/arguments.h"
#include "../host/function.h"
#include "alloc.h"

#include <string.h>
#include <time.h>

static double microseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double started;

/* Any word --trace counts. If it belongs to another program's command line, that costs one clock_gettime(2). */
void host_note_start(int argc, char **argv) {
    for (int i = 1; i < argc && started == 0; i++)
        if (argv[i][0] == '-' && strncmp(argv[i] + 1 + (argv[i][1] == '-'), "trace", 5) == 0) started = microseconds();
}

HOST_FUNCTION(host_clock) { return JS_NewFloat64(ctx, microseconds()); }

HOST_FUNCTION(host_usage) {
    JSValue result = JS_NewObject(ctx);
    host_set(ctx, result, "started", JS_NewFloat64(ctx, started));
    host_set(ctx, result, "heap", JS_NewInt64(ctx, (int64_t)host_heap_size()));
    return result;
}

static bool replace(JSContext *ctx, JSModuleDef *module, JSValueConst namespace, const char *name, JSValueConst callback) {
    JSValue arguments[] = { JS_NewString(ctx, name), JS_GetPropertyStr(ctx, namespace, name) };
    JSValue value = JS_Call(ctx, callback, JS_UNDEFINED, 2, arguments);
    JS_FreeValue(ctx, arguments[0]);
    JS_FreeValue(ctx, arguments[1]);
    if (JS_IsException(value)) return false;
    if (JS_IsUndefined(value)) return true;
    return JS_SetModuleExport(ctx, module, name, value) == 0;
}

JSValue host_replace_functions(JSContext *ctx, JSModuleDef *module, const JSCFunctionListEntry *entries, int count, JSValueConst callback) {
    JSValue namespace = JS_GetModuleNamespace(ctx, module);
    if (JS_IsException(namespace)) return JS_EXCEPTION;
    bool done = true;
    for (int i = 0; i < count && done; i++)
        if (entries[i].def_type == JS_DEF_CFUNC) done = replace(ctx, module, namespace, entries[i].name, callback);
    JS_FreeValue(ctx, namespace);
    return done ? JS_UNDEFINED : JS_EXCEPTION;
}
