/* The module "runt:host" of bin/runtctl: names and functions (contract: client.d.ts). */
#include "../program/module.h"

#include "../host/function.h"

#include "build.h" /* generated: RUNT_VERSION, RUNT_COMMIT */

static const JSCFunctionListEntry build_fields[] = {
    JS_PROP_STRING_DEF("version", RUNT_VERSION, JS_PROP_ENUMERABLE),
    JS_PROP_STRING_DEF("commit", RUNT_COMMIT, JS_PROP_ENUMERABLE),
};

/* F(name, number of arguments, function) */
#define FUNCTIONS(F) \
    F("argv", 0, host_js_argv) \
    F("getenv", 1, host_getenv) \
    F("exit", 1, client_exit) \
    F("utf8Encode", 1, host_utf8_encode) \
    F("utf8Decode", 1, host_utf8_decode) \
    F("sha256", 1, host_sha256) \
    F("open", 2, host_open) \
    F("close", 1, host_close) \
    F("write", 2, host_write) \
    F("realpath", 1, host_realpath) \
    F("readdir", 1, host_readdir) \
    F("stat", 1, host_stat) \
    F("tryMkdir", 2, host_try_mkdir) \
    F("isatty", 1, host_isatty) \
    F("windowSize", 1, host_window_size) \
    F("getpid", 0, host_getpid) \
    F("poll", 3, host_poll) \
    F("connect", 1, host_connect) \
    F("setNonBlocking", 1, host_set_non_blocking) \
    F("readSome", 2, host_read_some) \
    F("writeSome", 4, host_write_some) \
    F("monotonic", 0, host_monotonic) \
    F("nextSignal", 1, host_next_signal) \
    F("strerror", 1, host_strerror) \
    F("accept", 1, host_accept) \
    F("runJobs", 0, client_run_jobs) \
    F("holdSignal", 1, client_hold_signal) \
    F("releaseSignal", 2, client_release_signal) \
    F("raise", 1, client_raise) \
    F("takeTerminal", 1, client_take_terminal) \
    F("giveBackTerminal", 0, client_give_back_terminal) \
    F("listen", 2, client_listen) \
    F("localPort", 1, client_local_port) \
    F("endSending", 1, client_end_sending)

#define DECLARE(name, count, function) HOST_FUNCTION_IS(function);
FUNCTIONS(DECLARE)

#define EXPORT(name, count, function) JS_CFUNC_DEF(name, count, function),
static const JSCFunctionListEntry exports[] = { JS_OBJECT_DEF("build", build_fields, ARRAY_LENGTH(build_fields), JS_PROP_ENUMERABLE),
                                                FUNCTIONS(EXPORT) };

static int fill(JSContext *ctx, JSModuleDef *module) { return JS_SetModuleExportList(ctx, module, exports, ARRAY_LENGTH(exports)); }

JSModuleDef *host_new_module(JSContext *ctx) {
    JSModuleDef *module = JS_NewCModule(ctx, "runt:host", fill);
    if (module) JS_AddModuleExportList(ctx, module, exports, ARRAY_LENGTH(exports));
    return module;
}
