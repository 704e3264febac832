/* bin/runt: run the module "main". */
#include "../host/function.h"
#include "../host/spawn.h"
#include "../testing/host_points.h"
#include "image.h"
#include "invocation.h"
#include "module.h"
#include "modules.h"
#include "stack.h"
#include "trace.h"

#include <string.h>
#include <unistd.h>

/* The processes of a machine have a program of their own: who makes them says so in their first argument (src/runtime/isolation). */
static const char *entry(void) { return host_argc > 1 && strncmp(host_argv[1], "machine-", 8) == 0 ? "machine" : "main"; }

/* Run the program to its end. It awaits at its top level, so its end is that of a promise. */
static int run(JSContext *ctx) {
    JSModuleDef *module;
    JSContext *job_context;
    int done;
    JSValue promise = host_evaluate_module(ctx, entry(), &module);
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
    host_note_invocation(argc, argv, "runt: ");
    host_note_start(argc, argv);
    host_ignore_signals();

    JSContext *ctx = host_engine(host_new_module);
    HOST_TESTING_BEGIN(ctx);
    host_fill_stdio();
    JS_SetMaxStackSize(JS_GetRuntime(ctx), HOST_STACK);
    _exit(run(ctx));
}
