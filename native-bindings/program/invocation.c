/* How this program was called, and its end. */
#include "../host/arguments.h"
#include "image.h"
#include "main.h"

#include <stdlib.h>
#include <unistd.h>

HOST_FUNCTION(host_js_argv) {
    if (host_building_image) return JS_ThrowInternalError(ctx, "a module reads the command line when it is loaded");
    JSValue list = JS_NewArray(ctx);
    for (int i = 0; i < host_argc; i++)
        JS_DefinePropertyValueUint32(ctx, list, (uint32_t)i, JS_NewString(ctx, host_argv[i]), JS_PROP_C_W_E);
    return list;
}

HOST_CALL(host_getenv, "s") {
    if (host_building_image) return JS_ThrowInternalError(ctx, "a module reads the environment when it is loaded");
    const char *value = getenv(a[0].text);
    return value ? JS_NewString(ctx, value) : JS_UNDEFINED;
}

HOST_CALL(host_exit, "i") { _exit(a[0].number); }
