/* bin/runtctl: run the module "main" (src/runtctl/main.ts), which ends the process. */
#include "../program/main.h"

#include "../host/function.h"
#include "../program/image.h"
#include "../program/modules.h"
#include "../program/stack.h"
#include "client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int host_argc;
char **host_argv;

/* An exception nobody caught is a defect. Null is thrown when there is no memory for an error. */
int host_report(JSContext *ctx) {
    JSValue exception = JS_GetException(ctx);
    const char *text = JS_IsNull(exception) ? "out of memory" : JS_ToCString(ctx, exception);
    dprintf(2, "runtctl: internal error: %s\n", text ? text : "unknown");
    return 1;
}

/* What is opened next would get the number of a standard stream that the caller has closed, and would be written to as that. */
static void fill_stdio(void) {
    struct pollfd stdio[] = { { .fd = 0 }, { .fd = 1 }, { .fd = 2 } };
    if (poll(stdio, ARRAY_LENGTH(stdio), 0) <= 0) return;
    for (size_t i = 0; i < ARRAY_LENGTH(stdio); i++)
        if ((stdio[i].revents & POLLNVAL) && open("/dev/null", O_RDWR) < 0) _exit(1);
}

int main(int argc, char **argv) {
    host_argc = argc;
    host_argv = argv;
    signal(SIGPIPE, SIG_IGN);

    JSContext *ctx = host_engine();
    fill_stdio();
    JS_SetMaxStackSize(JS_GetRuntime(ctx), HOST_STACK);
    JSModuleDef *module;
    JSValue promise = host_evaluate_module(ctx, "main", &module);
    if (!JS_IsException(promise)) JS_Throw(ctx, JS_PromiseResult(ctx, promise));
    client_restore_terminal();
    _exit(host_report(ctx));
}
