/* bin/runt: run the module "main". */
#include "main.h"

#include "../host/function.h"
#include "../host/spawn.h"
#include "../shared/str.h"
#include "../testing/host_points.h"
#include "../testing/disabled_defences.h"
#include "image.h"
#include "modules.h"
#include "stack.h"
#include "trace.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int host_argc;
char **host_argv;

/* An exception nobody caught is a defect: one line, the stack only for developers. Null is thrown when there is no memory for an error. */
int host_report(JSContext *ctx) {
    JSValue exception = JS_GetException(ctx);
    bool is_defect = !JS_IsNull(exception);
    const char *text = is_defect ? JS_ToCString(ctx, exception) : "out of memory";
    static const char prefix[] = "runt: ", defect[] = "internal error: ";
    static const char unknown[] = "unknown";
    (void)!write(2, prefix, sizeof(prefix) - 1);
    if (is_defect) (void)!write(2, defect, sizeof(defect) - 1);
    if (!text) text = unknown;
    char line[4096];
    struct buffer out = BUFFER(line);
    put_printable(&out, text, strlen(text));
    (void)!write(2, line, out.used);
    (void)!write(2, "\n", 1);
    if (getenv("RUNT_DEBUG")) {
        JSValue stack = JS_GetPropertyStr(ctx, exception, "stack");
        const char *lines = JS_IsString(stack) ? JS_ToCString(ctx, stack) : NULL;
        if (lines) (void)!write(2, lines, strlen(lines));
    }
    return 1;
}

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

/*
 * A caller may start this program with stdin, stdout or stderr closed. What is opened next would get that number: it would be written to as
 * stderr, given to the user of the container as its stdio, and inherited by it.
 */
static void fill_stdio(void) {
    struct pollfd stdio[] = { { .fd = 0 }, { .fd = 1 }, { .fd = 2 } };
    if (poll(stdio, ARRAY_LENGTH(stdio), 0) <= 0 || DEFENCE_DISABLED(stdio)) return;
    for (size_t i = 0; i < ARRAY_LENGTH(stdio); i++)
        if ((stdio[i].revents & POLLNVAL) && open("/dev/null", O_RDWR) < 0) _exit(1);
}

int main(int argc, char **argv) {
    host_argc = argc;
    host_argv = argv;
    host_note_start(argc, argv);
    host_ignore_signals();

    JSContext *ctx = host_engine();
    HOST_TESTING_BEGIN(ctx);
    fill_stdio();
    JS_SetMaxStackSize(JS_GetRuntime(ctx), HOST_STACK);
    _exit(run(ctx));
}
