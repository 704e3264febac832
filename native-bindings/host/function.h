/* What a function of the host module looks like (contract: host.d.ts). */
#ifndef RUNT_HOST_FUNCTION_H
#define RUNT_HOST_FUNCTION_H
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <quickjs.h>

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

#define HOST_FUNCTION_IS(name) \
    JSValue name(__attribute__((unused)) JSContext *ctx, __attribute__((unused)) JSValueConst this_value, \
                 __attribute__((unused)) int argc, __attribute__((unused)) JSValueConst *argv)
/* Its declaration and the beginning of its definition: the list of the exports declares it once more (module.c). */
#define HOST_FUNCTION(name) \
    HOST_FUNCTION_IS(name); \
    HOST_FUNCTION_IS(name)

/* A property of an object that is made for JavaScript. */
static inline void host_set(JSContext *ctx, JSValueConst object, const char *name, JSValue value) {
    JS_DefinePropertyValueStr(ctx, object, name, value, JS_PROP_C_W_E);
}

#endif
