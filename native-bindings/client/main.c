/* bin/runtctl: run the module "main" (src/runtctl/main.ts), which ends the process. */
#include "../program/image.h"
#include "../program/invocation.h"
#include "../program/module.h"
#include "../program/modules.h"
#include "../program/stack.h"
#include "client.h"

#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    host_note_invocation(argc, argv, "runtctl: ");
    signal(SIGPIPE, SIG_IGN);

    JSContext *ctx = host_engine(host_new_module);
    host_fill_stdio();
    JS_SetMaxStackSize(JS_GetRuntime(ctx), HOST_STACK);
    JSModuleDef *module;
    JSValue promise = host_evaluate_module(ctx, "main", &module);
    if (!JS_IsException(promise)) JS_Throw(ctx, JS_PromiseResult(ctx, promise));
    client_restore_terminal();
    _exit(host_report(ctx));
}
