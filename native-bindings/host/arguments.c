/* Conversion of JavaScript arguments, always with lengths checked. */
#include "arguments.h"

#include "error.h"

#include <limits.h>
#include <string.h>

bool host_int(JSContext *ctx, JSValueConst value, int *out) {
    int64_t number;
    if (JS_VALUE_GET_TAG(value) == JS_TAG_INT) {
        *out = JS_VALUE_GET_INT(value);
        return true;
    }
    if (JS_ToInt64(ctx, &number, value) < 0) return false;
    /* Flags are written as unsigned numbers in TypeScript; both readings of 32 bits are accepted. */
    if (number < INT_MIN || number > UINT32_MAX) {
        JS_ThrowRangeError(ctx, "not a 32-bit number");
        return false;
    }
    *out = (int)(uint32_t)(uint64_t)number;
    return true;
}

bool host_u32(JSContext *ctx, JSValueConst value, uint32_t *out) {
    int number;
    if (!host_int(ctx, value, &number)) return false;
    *out = (uint32_t)number;
    return true;
}

bool host_u64(JSContext *ctx, JSValueConst value, uint64_t *out) {
    int64_t number;
    if (JS_IsBigInt(ctx, value)) {
        if (JS_ToBigInt64(ctx, &number, value) < 0) return false;
    } else if (JS_ToInt64(ctx, &number, value) < 0) {
        return false;
    }
    *out = (uint64_t)number;
    return true;
}

const char *host_text(JSContext *ctx, JSValueConst value) {
    size_t length;
    if (!JS_IsString(value)) {
        JS_ThrowTypeError(ctx, "not a string");
        return NULL;
    }
    const char *text = JS_ToCStringLen(ctx, &length, value);
    if (!text) return NULL;
    if (memchr(text, 0, length)) {
        JS_FreeCString(ctx, text);
        host_throw(ctx, EINVAL, "text", NULL);
        return NULL;
    }
    return text;
}

bool host_length(JSContext *ctx, JSValueConst array, uint32_t *out) {
    if (!JS_IsObject(array)) {
        JS_ThrowTypeError(ctx, "not an array");
        return false;
    }
    JSValue length = JS_GetPropertyStr(ctx, array, "length");
    if (JS_IsException(length)) return false;
    int64_t number = -1;
    int status = JS_ToInt64(ctx, &number, length);
    JS_FreeValue(ctx, length);
    if (status < 0) return false;
    if (number < 0 || number > INT_MAX / 16) {
        JS_ThrowRangeError(ctx, "array too long");
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

bool host_strings(JSContext *ctx, JSValueConst value, size_t reserve, struct string_vector *out) {
    uint32_t count;
    out->count = 0;
    out->items = NULL;
    if (!host_length(ctx, value, &count)) return false;
    out->items = js_mallocz(ctx, (reserve + count + 1) * sizeof(char *));
    if (!out->items) return false;
    for (uint32_t i = 0; i < count; i++) {
        JSValue item = JS_GetPropertyUint32(ctx, value, i);
        const char *text = JS_IsException(item) ? NULL : host_text(ctx, item);
        JS_FreeValue(ctx, item);
        if (!text) {
            host_free_strings(ctx, reserve, out);
            return false;
        }
        out->items[reserve + i] = (char *)(uintptr_t)text;
        out->count = i + 1;
    }
    return true;
}

void host_free_strings(JSContext *ctx, size_t reserve, struct string_vector *vector) {
    for (size_t i = 0; i < vector->count; i++) JS_FreeCString(ctx, vector->items[reserve + i]);
    js_free(ctx, vector->items);
    vector->items = NULL;
    vector->count = 0;
}

bool host_ints(JSContext *ctx, JSValueConst value, struct int_vector *out) {
    out->items = NULL;
    if (!host_length(ctx, value, &out->count)) return false;
    out->items = js_malloc(ctx, (out->count + 1) * sizeof(int));
    if (!out->items) return false;
    for (uint32_t i = 0; i < out->count; i++) {
        JSValue item = JS_GetPropertyUint32(ctx, value, i);
        bool ok = !JS_IsException(item) && host_int(ctx, item, &out->items[i]);
        JS_FreeValue(ctx, item);
        if (!ok) {
            js_free(ctx, out->items);
            out->items = NULL;
            return false;
        }
    }
    return true;
}

bool host_bytes(JSContext *ctx, JSValueConst value, struct bytes *out) {
    out->text = NULL;
    if (JS_IsString(value)) {
        out->text = JS_ToCStringLen(ctx, &out->length, value);
        out->data = (const uint8_t *)out->text;
        return out->text != NULL;
    }
    out->data = JS_GetArrayBuffer(ctx, &out->length, value);
    return out->data != NULL;
}

void host_free_bytes(JSContext *ctx, struct bytes *bytes) {
    if (bytes->text) JS_FreeCString(ctx, bytes->text);
    bytes->text = NULL;
}

JSValue host_numbers(JSContext *ctx, const int *numbers, uint32_t count) {
    JSValue list = JS_NewArray(ctx);
    for (uint32_t i = 0; i < count; i++) JS_DefinePropertyValueUint32(ctx, list, i, JS_NewInt32(ctx, numbers[i]), JS_PROP_C_W_E);
    return list;
}

/* False: an exception is pending, and nothing is to be freed. */
static bool convert(JSContext *ctx, char letter, JSValueConst value, struct argument *out) {
    switch (letter) {
    case 'i': return host_int(ctx, value, &out->number);
    case 'q': return host_u64(ctx, value, &out->wide);
    case 'o': out->truth = JS_ToBool(ctx, value) > 0; return true;
    case 's': out->text = host_text(ctx, value); return out->text != NULL;
    case 'b': return host_bytes(ctx, value, &out->bytes);
    case 'A': out->bytes.data = JS_GetArrayBuffer(ctx, &out->bytes.length, value); return out->bytes.data != NULL;
    case 'v': out->value = value; return true;
    case 'S': return host_strings(ctx, value, 0, &out->strings);
    case 'I': return host_ints(ctx, value, &out->ints);
    default: JS_ThrowTypeError(ctx, "unknown letter of an argument"); return false;
    }
}

static void release(JSContext *ctx, struct argument *argument) {
    if (argument->letter == 's') JS_FreeCString(ctx, argument->text);
    else if (argument->letter == 'b') host_free_bytes(ctx, &argument->bytes);
    else if (argument->letter == 'S') host_free_strings(ctx, 0, &argument->strings);
    else if (argument->letter == 'I') js_free(ctx, argument->ints.items);
}

#define MOST_ARGUMENTS 8

JSValue host_call(JSContext *ctx, int argc, JSValueConst *argv, const char *letters, host_body *body) {
    struct argument arguments[MOST_ARGUMENTS];
    int count = 0;
    bool is_optional = false, ok = true;
    for (; ok && *letters; letters++) {
        if (*letters == '?') {
            is_optional = true;
            continue;
        }
        JSValueConst value = host_arg(argc, argv, count);
        struct argument *argument = &arguments[count];
        if (is_optional && JS_IsUndefined(value)) {
            *argument = (struct argument){ 0 };
        } else {
            argument->is_given = true;
            argument->letter = *letters;
            ok = convert(ctx, *letters, value, argument);
        }
        count += ok;
    }
    JSValue result = ok ? body(ctx, arguments) : JS_EXCEPTION;
    while (count-- > 0) release(ctx, &arguments[count]);
    return result;
}
