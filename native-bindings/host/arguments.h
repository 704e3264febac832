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
/* An array of numbers. */
JSValue host_numbers(JSContext *ctx, const int *numbers, uint32_t count);

/* One argument of a function that is defined with HOST_CALL. */
struct argument {
    bool is_given; /* false: undefined, for an optional one */
    char letter;   /* what it was converted as; 0 = not given */
    union {
        int number;
        uint32_t bits;
        uint64_t wide;
        bool truth;
        const char *text;
        struct bytes bytes;
        struct string_vector strings;
        struct int_vector ints;
        JSValueConst value;
    };
};
typedef JSValue host_body(JSContext *ctx, const struct argument *a);
/* Converts the arguments, calls the body, and frees what the conversion has made. */
JSValue host_call(JSContext *ctx, int argc, JSValueConst *argv, const char *letters, host_body *body);
/*
 * A function with these arguments, which its body finds in `a`. A letter is an argument: i = 32 bits, q = 64 bits, o = a truth value, s = a text
 * without NUL, b = bytes (a string or an ArrayBuffer), A = bytes of an ArrayBuffer, S = texts, I = numbers, v = the value itself. Behind `?` all are
 * optional: one that is not given is 0 or NULL.
 */
#define HOST_CALL(name, letters) \
    static host_body name##_body; \
    HOST_FUNCTION(name) { return host_call(ctx, argc, argv, letters, name##_body); } \
    static JSValue name##_body(__attribute__((unused)) JSContext *ctx, const struct argument *a)

#endif
