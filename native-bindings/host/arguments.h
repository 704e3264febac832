/* Conversion of arguments; false means that an exception is pending. */
#ifndef RUNT_HOST_ARGUMENTS_H
#define RUNT_HOST_ARGUMENTS_H
#include "function.h"

bool host_int(JSContext *ctx, JSValueConst value, int *out);
bool host_u32(JSContext *ctx, JSValueConst value, uint32_t *out);
bool host_u64(JSContext *ctx, JSValueConst value, uint64_t *out);
/* A string without NUL; free with JS_FreeCString. NULL means that an exception is pending. */
const char *host_text(JSContext *ctx, JSValueConst value);
/* The argument or undefined, for optional ones. */
static inline JSValueConst host_arg(int argc, JSValueConst *argv, int index) { return index < argc ? argv[index] : JS_UNDEFINED; }
/* An array of strings as a NULL-terminated vector with `reserve` empty places in front. */
struct string_vector {
    size_t count;
    char **items;
};
bool host_strings(JSContext *ctx, JSValueConst value, size_t reserve, struct string_vector *out);
void host_free_strings(JSContext *ctx, size_t reserve, struct string_vector *vector);
struct int_vector {
    uint32_t count;
    int *items;
};
bool host_ints(JSContext *ctx, JSValueConst value, struct int_vector *out);
bool host_length(JSContext *ctx, JSValueConst array, uint32_t *out);
/* A string or an ArrayBuffer. */
struct bytes {
    const uint8_t *data;
    size_t length;
    const char *text; /* to be freed, or NULL */
};
bool host_bytes(JSContext *ctx, JSValueConst value, struct bytes *out);
void host_free_bytes(JSContext *ctx, struct bytes *bytes);
void host_set(JSContext *ctx, JSValueConst object, const char *name, JSValue value);

#endif
