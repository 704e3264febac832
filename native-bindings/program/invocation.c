/* How this program was called, and its end. */
#include "invocation.h"

#include "../host/arguments.h"
#include "../host/function.h"
#include "../shared/str.h"
#include "../testing/disabled_defences.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int host_argc;
char **host_argv;
bool host_building_image;
static const char *beginning;

void host_note_invocation(int argc, char **argv, const char *prefix) {
    host_argc = argc;
    host_argv = argv;
    beginning = prefix;
}

/* An exception nobody caught is a defect: one line, the stack only for developers. Null is thrown when there is no memory for an error. */
int host_report(JSContext *ctx) {
    JSValue exception = JS_GetException(ctx);
    bool is_defect = !JS_IsNull(exception);
    const char *text = is_defect ? JS_ToCString(ctx, exception) : "out of memory";
    static const char defect[] = "internal error: ";
    static const char unknown[] = "unknown";
    (void)!write(2, beginning, strlen(beginning));
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

/*
 * A caller may start this program with stdin, stdout or stderr closed. What is opened next would get that number: it would be written to as
 * stderr, given to the user of the container as its stdio, and inherited by it.
 */
void host_fill_stdio(void) {
    struct pollfd stdio[] = { { .fd = 0 }, { .fd = 1 }, { .fd = 2 } };
    if (poll(stdio, ARRAY_LENGTH(stdio), 0) <= 0 || DEFENCE_DISABLED(stdio)) return;
    for (size_t i = 0; i < ARRAY_LENGTH(stdio); i++)
        if ((stdio[i].revents & POLLNVAL) && open("/dev/null", O_RDWR) < 0) _exit(1);
}

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
