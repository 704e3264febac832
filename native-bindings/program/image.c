/*
 * The started engine as part of the executable.
 *
 * Starting QuickJS (built-in objects, atoms) and reading bytecode always gives the same memory. The build does it once: the
 * linked program, started under the name IMAGE_WRITER, prints its section .image after the start, and the build puts that
 * back into the section. The program is linked to fixed addresses, so every pointer stays right, and pages are read from the
 * page cache only where they are touched. A program whose section was not filled starts the slow way.
 *
 * The same sources must give the same bytes (make reproducible), so neither the time nor the place of the stack may get into it.
 */
#include "image.h"

#include "../host/function.h"
#include "../host/output.h"
#include "alloc.h"
#include "invocation.h"
#include "modules.h"
#include "stack.h"

#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define IMAGE_WRITER "runt-image-writer"

extern uint8_t image_start[], image_end[];

static struct {
    bool filled;
    JSRuntime *rt;
    JSContext *ctx;
    JSModuleDef *host_module;
} engine;

static JSContext *new_context(JSRuntime *rt) {
    JSContext *ctx = JS_NewContextRaw(rt);
    if (!ctx) return NULL;
    JS_AddIntrinsicBaseObjects(ctx);
    JS_AddIntrinsicDate(ctx);
    JS_AddIntrinsicRegExp(ctx);
    JS_AddIntrinsicJSON(ctx);
    JS_AddIntrinsicMapSet(ctx);
    JS_AddIntrinsicTypedArrays(ctx);
    JS_AddIntrinsicPromise(ctx);
    /* Its seed would be the same in every process. */
    JSValue global = JS_GetGlobalObject(ctx);
    JSValue math = JS_GetPropertyStr(ctx, global, "Math");
    JSAtom random = JS_NewAtom(ctx, "random");
    JS_DeleteProperty(ctx, math, random, 0);
    JS_FreeAtom(ctx, random);
    JS_FreeValue(ctx, math);
    JS_FreeValue(ctx, global);
    return ctx;
}

/* The engine makes functions of a built-in object when they are first looked at: now, so that no process writes to these pages of the image. */
static void complete(JSContext *ctx, JSValueConst object) {
    JSPropertyEnum *properties;
    uint32_t count;
    if (JS_GetOwnPropertyNames(ctx, &properties, &count, object, JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK) < 0) _exit(1);
    for (uint32_t i = 0; i < count; i++) {
        JSPropertyDescriptor property;
        if (JS_GetOwnProperty(ctx, &property, object, properties[i].atom) <= 0) _exit(1);
        JS_FreeValue(ctx, property.value);
        JS_FreeValue(ctx, property.getter);
        JS_FreeValue(ctx, property.setter);
        JS_FreeAtom(ctx, properties[i].atom);
    }
    js_free(ctx, properties);
}

static void complete_builtins(JSContext *ctx) {
    static const char *const names[] = { "Object", "Function", "Array", "String", "Number", "BigInt",
                                         "Date",   "Promise",  "Map",   "Set",    "JSON",   "Uint32Array" };
    JSValue global = JS_GetGlobalObject(ctx);
    complete(ctx, global);
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        JSValue builtin = JS_GetPropertyStr(ctx, global, names[i]), prototype = JS_GetPropertyStr(ctx, builtin, "prototype");
        complete(ctx, builtin);
        if (JS_IsObject(prototype)) complete(ctx, prototype);
        JS_FreeValue(ctx, prototype);
        JS_FreeValue(ctx, builtin);
    }
    JS_FreeValue(ctx, global);
}

/* Takes the place of musl's. The engine seeds Math.random with it. */
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec time = { 0 };
    if (!host_building_image) clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

static void update_stack_top(void *rt) { JS_UpdateStackTop(rt); }

/* The engine remembers where the stack is; where the kernel has put this one differs from run to run. */
static bool forget_stack(JSRuntime *rt) {
    enum { SIZE = 16384 };
    uint8_t *stack = js_malloc_rt(rt, SIZE);
    if (!stack) return false;
    host_call_on_stack(stack + SIZE, update_stack_top, rt);
    memset(stack, 0, SIZE);
    js_free_rt(rt, stack);
    return true;
}

static void start_engine(JSModuleDef *(*make_module)(JSContext *ctx)) {
#ifdef JS_IMAGE_SIZE
    if (host_building_image) {
        js_image_allocate = host_allocate_apart;
        js_image_release = host_release_apart;
    }
#endif
    engine.rt = JS_NewRuntime2(&host_allocator, NULL);
    if (!engine.rt || (host_building_image && !forget_stack(engine.rt))) _exit(1);
    /* The heap of a whole run is small: collecting cycles would cost more than it gives back. */
    JS_SetGCThreshold(engine.rt, (size_t)-1);
    engine.ctx = new_context(engine.rt);
    if (engine.ctx && host_building_image) complete_builtins(engine.ctx);
    if (!engine.ctx || !(engine.host_module = make_module(engine.ctx))) _exit(1);
    host_init_loader(engine.rt);
}

/* Not _exit: exit_group(2) is not allowed in strict mode. */
static _Noreturn void leave(int status) {
    for (;;) syscall(SYS_exit, status);
}

static _Noreturn void write_image(void) {
    /* What a module reads of the system when it is evaluated would be frozen: from here on only write(2) is possible, and
       the host module refuses arguments and environment. */
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    if (!host_preload_modules(engine.ctx)) leave(host_report(engine.ctx));
#ifdef JS_IMAGE_SIZE
    JS_SealImage(engine.rt);
#endif
    if (!host_seal_arena()) {
        static const char text[] = "the arena of the image is too small\n";
        (void)!write(2, text, sizeof(text) - 1);
        leave(1);
    }
    host_building_image = false;
    engine.filled = true;
#ifdef JS_IMAGE_SIZE
    js_image_size = (size_t)(image_end - image_start);
#endif
    leave(host_write_all(1, image_start, (size_t)(image_end - image_start)) < 0);
}

static bool called_image_writer(void) {
    const char *slash = host_argc > 0 ? strrchr(host_argv[0], '/') : NULL;
    return host_argc == 1 && strcmp(slash ? slash + 1 : host_argv[0], IMAGE_WRITER) == 0;
}

JSModuleDef *host_own_module(void) { return engine.host_module; }

JSContext *host_engine(JSModuleDef *(*make_module)(JSContext *ctx)) {
    if (engine.filled) {
        JS_UpdateStackTop(engine.rt);
    } else {
        host_building_image = called_image_writer();
        start_engine(make_module);
        if (host_building_image) write_image();
    }
    return engine.ctx;
}
