/* bin/runt: run the module "main". */
#include "host.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int host_argc;
char **host_argv;

#define STACK_LIMIT ((size_t)2 << 20)

/* An exception nobody caught is a defect: one line, the stack only for developers. */
int host_report(JSContext *ctx) {
    JSValue exception = JS_GetException(ctx);
    const char *text = JS_ToCString(ctx, exception);
    static const char prefix[] = "runt: internal error: ";
    static const char unknown[] = "unknown";
    (void)!write(2, prefix, sizeof(prefix) - 1);
    if (!text) text = unknown;
    /* The message must stay one line. */
    size_t length = strcspn(text, "\n");
    (void)!write(2, text, length);
    (void)!write(2, "\n", 1);
    if (getenv("RUNT_DEBUG")) {
        JSValue stack = JS_GetPropertyStr(ctx, exception, "stack");
        const char *lines = JS_IsString(stack) ? JS_ToCString(ctx, stack) : NULL;
        if (lines) (void)!write(2, lines, strlen(lines));
    }
    return 1;
}

/* Run the program to its end. It awaits at its top level, so its end is that of a promise. */
static int run(JSContext *ctx) {
    JSModuleDef *module;
    JSContext *job_context;
    int done;
    JSValue promise = host_evaluate_module(ctx, "main", &module);
    if (JS_IsException(promise)) return host_report(ctx);
    do done = JS_ExecutePendingJob(JS_GetRuntime(ctx), &job_context);
    while (done > 0);
    if (done < 0) return host_report(job_context);
    if (JS_PromiseState(ctx, promise) == JS_PROMISE_FULFILLED) return 0;
    if (JS_PromiseState(ctx, promise) == JS_PROMISE_REJECTED) JS_Throw(ctx, JS_PromiseResult(ctx, promise));
    else JS_ThrowInternalError(ctx, "the program waits for what never comes");
    return host_report(ctx);
}

int main(int argc, char **argv) {
    host_argc = argc;
    host_argv = argv;
    /* A peer that went away is an error of write(2), not the end of this process. */
    signal(SIGPIPE, SIG_IGN);

    JSContext *ctx = host_engine();
    JS_SetMaxStackSize(JS_GetRuntime(ctx), STACK_LIMIT);
    _exit(run(ctx));
}
