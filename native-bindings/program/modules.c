/* Modules and blobs that are part of the executable. */
#include "modules.h"

#include "../host/arguments.h"
#include "../host/function.h"
#include "../host/text.h"
#include "embedded.h"

#include <string.h>

/* Embedded modules that were read, so that a module is one object however often it is named. */
#define MAX_LOADED 256
static struct {
    const struct embedded *embedded;
    JSModuleDef *module;
} loaded[MAX_LOADED];
static size_t loaded_count;

static const struct embedded *find(const struct embedded *table, const char *name) {
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

/* Names are flat: chunks refer to each other as the bundler wrote them, relative to the output directory. */
static char *normalize(JSContext *ctx, const char *base, const char *name, void *opaque) {
    (void)base;
    (void)opaque;
    if (strcmp(name, "runt:host") == 0) return js_strdup(ctx, name);
    const char *start = name;
    for (;;) {
        if (strncmp(start, "./", 2) == 0) start += 2;
        else if (strncmp(start, "../", 3) == 0) start += 3;
        else break;
    }
    size_t length = strlen(start);
    if (length > 3 && strcmp(start + length - 3, ".js") == 0) length -= 3;
    return js_strndup(ctx, start, length);
}

static JSModuleDef *read_module(JSContext *ctx, const char *name) {
    const struct embedded *embedded = find(embedded_modules, name);
    if (!embedded) {
        JS_ThrowReferenceError(ctx, "no module '%s' in this executable", name);
        return NULL;
    }
    for (size_t i = 0; i < loaded_count; i++)
        if (loaded[i].embedded == embedded) return loaded[i].module;
    if (loaded_count == MAX_LOADED) {
        JS_ThrowInternalError(ctx, "too many modules");
        return NULL;
    }
    JSValue value = JS_ReadObject(ctx, embedded->start, (size_t)(embedded->end - embedded->start), JS_READ_OBJ_BYTECODE);
    if (JS_IsException(value)) return NULL;
    /* The reference of the value stays with the list of loaded modules of the context. */
    JSModuleDef *module = JS_VALUE_GET_PTR(value);
    loaded[loaded_count].embedded = embedded;
    loaded[loaded_count].module = module;
    loaded_count++;
    return module;
}

static JSModuleDef *loader(JSContext *ctx, const char *name, void *opaque) {
    (void)opaque;
    return read_module(ctx, name);
}

void host_init_loader(JSRuntime *rt) { JS_SetModuleLoaderFunc(rt, normalize, loader, NULL); }

JSValue host_evaluate_module(JSContext *ctx, const char *name, JSModuleDef **module) {
    *module = read_module(ctx, name);
    if (!*module) return JS_EXCEPTION;
    JSValue value = JS_MKPTR(JS_TAG_MODULE, *module);
    if (JS_ResolveModule(ctx, value) < 0) return JS_EXCEPTION;
    return JS_EvalFunction(ctx, JS_DupValue(ctx, value));
}

/* Modules without top-level await are evaluated at once: their promise is settled. */
static JSValue load_module(JSContext *ctx, const char *name) {
    JSModuleDef *module;
    JSValue promise = host_evaluate_module(ctx, name, &module);
    if (JS_IsException(promise)) return JS_EXCEPTION;
    JSPromiseStateEnum state = JS_PromiseState(ctx, promise);
    if (state == JS_PROMISE_REJECTED) {
        JSValue reason = JS_PromiseResult(ctx, promise);
        JS_FreeValue(ctx, promise);
        return JS_Throw(ctx, reason);
    }
    JS_FreeValue(ctx, promise);
    if (state == JS_PROMISE_PENDING) return JS_ThrowInternalError(ctx, "module '%s' awaits at its top level", name);
    return JS_GetModuleNamespace(ctx, module);
}

bool host_preload_modules(JSContext *ctx) {
    for (const struct embedded *module = embedded_modules; module->name; module++) {
        if (!read_module(ctx, module->name)) return false;
        if (module->place != IMAGE_EVALUATED) continue;
        JSValue namespace = load_module(ctx, module->name);
        if (JS_IsException(namespace)) return false;
        JS_FreeValue(ctx, namespace);
    }
    return true;
}

HOST_CALL(host_resource, "s") {
    const struct embedded *found = find(embedded_resources, a[0].text);
    return found ? host_utf8_string(ctx, found->start, (size_t)(found->end - found->start), NULL) : JS_UNDEFINED;
}
