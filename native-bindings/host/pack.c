/* host.pack: values to the wire form of a plan in one call, because byte work in the engine is slow. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 8

struct writer {
    uint8_t *data;
    size_t length;
    size_t capacity;
};

static bool reserve(JSContext *ctx, struct writer *out, size_t more) {
    if (more > UINT32_MAX - out->length) {
        JS_ThrowRangeError(ctx, "packed data is too long");
        return false;
    }
    if (out->length + more <= out->capacity) return true;
    size_t capacity = out->capacity * 2 + more;
    uint8_t *data = js_realloc(ctx, out->data, capacity);
    if (!data) return false;
    out->data = data;
    out->capacity = capacity;
    return true;
}

static void put_at(uint8_t *data, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) data[i] = (uint8_t)(value >> (8 * i));
}

static bool put(JSContext *ctx, struct writer *out, uint64_t value, unsigned bytes) {
    if (!reserve(ctx, out, bytes)) return false;
    put_at(out->data + out->length, value, bytes);
    out->length += bytes;
    return true;
}

static bool put_text(JSContext *ctx, struct writer *out, JSValueConst value) {
    size_t length;
    if (!JS_IsString(value)) {
        JS_ThrowTypeError(ctx, "not a string");
        return false;
    }
    const char *text = JS_ToCStringLen(ctx, &length, value);
    if (!text) return false;
    bool ok = false;
    if (memchr(text, 0, length)) {
        host_throw(ctx, EINVAL, "pack", text);
    } else if (reserve(ctx, out, length + 5)) {
        put_at(out->data + out->length, length, 4);
        memcpy(out->data + out->length + 4, text, length + 1);
        out->length += length + 5;
        ok = true;
    }
    JS_FreeCString(ctx, text);
    return ok;
}

static bool put_number(JSContext *ctx, struct writer *out, JSValueConst value) {
    uint32_t number;
    if (JS_IsBool(value)) number = JS_VALUE_GET_BOOL(value) ? 1 : 0;
    else if (!host_u32(ctx, value, &number)) return false;
    return put(ctx, out, number, 4);
}

static bool put_array(JSContext *ctx, struct writer *out, JSValueConst value, bool texts) {
    uint32_t count;
    if (!host_length(ctx, value, &count) || !put(ctx, out, count, 4)) return false;
    for (uint32_t i = 0; i < count; i++) {
        JSValue item = JS_GetPropertyUint32(ctx, value, i);
        bool ok = !JS_IsException(item) && (texts ? put_text(ctx, out, item) : put_number(ctx, out, item));
        JS_FreeValue(ctx, item);
        if (!ok) return false;
    }
    return true;
}

static bool put_value(JSContext *ctx, struct writer *out, char letter, JSValueConst value) {
    uint64_t wide;
    switch (letter) {
    case 'u': return put_number(ctx, out, value);
    case 'q': return host_u64(ctx, value, &wide) && put(ctx, out, wide, 8);
    case 's': return put_text(ctx, out, value);
    case 'S': return put_array(ctx, out, value, true);
    case 'U': return put_array(ctx, out, value, false);
    default: JS_ThrowTypeError(ctx, "unknown letter '%c' in a pack format", letter); return false;
    }
}

static bool pack_all(JSContext *ctx, struct writer *out, const char *format, JSValueConst values) {
    size_t blocks[MAX_DEPTH];
    unsigned depth = 0;
    size_t total_at = SIZE_MAX;
    uint32_t count, used = 0;
    if (!host_length(ctx, values, &count)) return false;
    for (const char *letter = format; *letter; letter++) {
        if (*letter == '(') {
            if (depth == MAX_DEPTH) {
                JS_ThrowRangeError(ctx, "too many blocks in a pack format");
                return false;
            }
            blocks[depth++] = out->length;
            if (!put(ctx, out, 0, 4)) return false;
        } else if (*letter == ')') {
            if (depth == 0) {
                JS_ThrowTypeError(ctx, "unbalanced blocks in a pack format");
                return false;
            }
            size_t start = blocks[--depth];
            put_at(out->data + start, out->length - start - 4, 4);
        } else if (*letter == 'T') {
            total_at = out->length;
            if (!put(ctx, out, 0, 4)) return false;
        } else {
            if (used == count) break;
            JSValue value = JS_GetPropertyUint32(ctx, values, used++);
            bool ok = !JS_IsException(value) && put_value(ctx, out, *letter, value);
            JS_FreeValue(ctx, value);
            if (!ok) return false;
            continue;
        }
    }
    size_t letters = 0;
    for (const char *letter = format; *letter; letter++) letters += *letter != '(' && *letter != ')' && *letter != 'T';
    if (letters != count || depth != 0) {
        JS_ThrowTypeError(ctx, "a pack format does not match its values");
        return false;
    }
    if (total_at != SIZE_MAX) put_at(out->data + total_at, out->length, 4);
    return true;
}

static void free_buffer(JSRuntime *rt, void *opaque, void *data) {
    (void)opaque;
    js_free_rt(rt, data);
}

HOST_FUNCTION(host_pack) {
    (void)this_value;
    const char *format = host_text(ctx, host_arg(argc, argv, 0));
    if (!format) return JS_EXCEPTION;
    struct writer out = { js_malloc(ctx, 16384), 0, 16384 };
    bool ok = out.data && pack_all(ctx, &out, format, host_arg(argc, argv, 1));
    JS_FreeCString(ctx, format);
    if (!ok) {
        js_free(ctx, out.data);
        return JS_EXCEPTION;
    }
    return JS_NewArrayBuffer(ctx, out.data, out.length, free_buffer, NULL, false);
}
