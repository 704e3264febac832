/* Conversion of JavaScript arguments, always with lengths checked. */
#include "arguments.h"

#include "error.h"

#include <limits.h>
#include <string.h>

bool host_int(JSContext *ctx, JSValueConst value, int *out) {
    int64_t number;
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

void host_set(JSContext *ctx, JSValueConst object, const char *name, JSValue value) {
    JS_DefinePropertyValueStr(ctx, object, name, value, JS_PROP_C_W_E);
}
