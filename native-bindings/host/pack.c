/* host.packPlan: operations to the wire form of a plan in one call, because byte work in the engine is slow. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include "protocol/plan.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ACTORS 4
#define MAX_FIELDS 16

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

static void free_buffer(JSRuntime *rt, void *opaque, void *data) {
    (void)opaque;
    js_free_rt(rt, data);
}

/* Offsets of the header words that are filled in at the end. */
enum { TOTAL_AT = offsetof(struct plan_head, bytes), COUNT_AT = offsetof(struct plan_head, operations) };

/* What packing looks up for each operation, once: an atom takes as long to find as a field to write. */
struct packer {
    struct writer *out;
    JSValueConst shapes;
    JSAtom op, args, actor;
    JSAtom actors[MAX_ACTORS];
    uint32_t actor_count;
    /* The kind of the operation before: the next one often has the same. JS_ATOM_NULL: there was none. */
    JSAtom kind;
    uint32_t id;
    uint32_t field_count;
    char letters[MAX_FIELDS];
    JSAtom fields[MAX_FIELDS];
};

static void forget_kind(JSContext *ctx, struct packer *packer) {
    for (uint32_t i = 0; i < packer->field_count; i++) JS_FreeAtom(ctx, packer->fields[i]);
    JS_FreeAtom(ctx, packer->kind);
    packer->field_count = 0;
    packer->kind = JS_ATOM_NULL;
}

/* Takes the shape of an operation apart: [id, letters, name...]. */
static bool take_shape(JSContext *ctx, struct packer *packer, JSValueConst shape) {
    JSValue id = JS_GetPropertyUint32(ctx, shape, 0), letters_value = JS_GetPropertyUint32(ctx, shape, 1);
    size_t length = 0;
    const char *letters = JS_IsString(letters_value) ? JS_ToCStringLen(ctx, &length, letters_value) : NULL;
    bool ok = letters && host_u32(ctx, id, &packer->id);
    if (!letters) JS_ThrowTypeError(ctx, "an operation of an unknown kind");
    if (ok && length > MAX_FIELDS) {
        JS_ThrowRangeError(ctx, "too many fields in an operation");
        ok = false;
    }
    for (uint32_t i = 0; ok && i < length; i++) {
        JSValue name = JS_GetPropertyUint32(ctx, shape, i + 2);
        packer->letters[i] = letters[i];
        packer->fields[packer->field_count++] = JS_ValueToAtom(ctx, name);
        JS_FreeValue(ctx, name);
    }
    if (letters) JS_FreeCString(ctx, letters);
    JS_FreeValue(ctx, letters_value);
    JS_FreeValue(ctx, id);
    return ok;
}

static bool find_kind(JSContext *ctx, struct packer *packer, JSValueConst operation) {
    JSValue name = JS_GetProperty(ctx, operation, packer->op);
    JSAtom kind = JS_ValueToAtom(ctx, name);
    JS_FreeValue(ctx, name);
    if (kind == JS_ATOM_NULL) return false;
    if (kind == packer->kind) {
        JS_FreeAtom(ctx, kind);
        return true;
    }
    forget_kind(ctx, packer);
    packer->kind = kind;
    JSValue shape = JS_GetProperty(ctx, packer->shapes, kind);
    bool ok = take_shape(ctx, packer, shape);
    JS_FreeValue(ctx, shape);
    return ok;
}

static bool pack_operation(JSContext *ctx, struct packer *packer, JSValueConst operation, uint32_t actor, uint32_t index) {
    struct writer *out = packer->out;
    if (!find_kind(ctx, packer, operation) || !put(ctx, out, packer->id, 4) || !put(ctx, out, actor, 4) || !put(ctx, out, index, 4))
        return false;
    size_t block = out->length;
    JSValue arguments = JS_GetProperty(ctx, operation, packer->args);
    bool ok = put(ctx, out, 0, 4);
    for (uint32_t i = 0; ok && i < packer->field_count; i++) {
        JSValue value = JS_GetProperty(ctx, arguments, packer->fields[i]);
        ok = !JS_IsException(value) && put_value(ctx, out, packer->letters[i], value);
        JS_FreeValue(ctx, value);
    }
    if (ok) put_at(out->data + block, out->length - block - 4, 4);
    JS_FreeValue(ctx, arguments);
    return ok;
}

/* The position of the operation's actor in `actors`; their number when it is none of them. */
static uint32_t actor_of(JSContext *ctx, const struct packer *packer, JSValueConst operation) {
    JSValue actor = JS_GetProperty(ctx, operation, packer->actor);
    JSAtom name = JS_ValueToAtom(ctx, actor);
    uint32_t at = 0;
    while (at < packer->actor_count && packer->actors[at] != name) at++;
    JS_FreeAtom(ctx, name);
    JS_FreeValue(ctx, actor);
    return at;
}

static bool pack_each(JSContext *ctx, struct packer *packer, JSValueConst operations) {
    uint32_t length, packed = 0;
    if (!host_length(ctx, operations, &length)) return false;
    for (uint32_t index = 0; index < length; index++) {
        JSValue operation = JS_GetPropertyUint32(ctx, operations, index);
        uint32_t actor = actor_of(ctx, packer, operation);
        bool ok = actor == packer->actor_count || pack_operation(ctx, packer, operation, actor, index);
        packed += actor != packer->actor_count;
        JS_FreeValue(ctx, operation);
        if (!ok) return false;
    }
    put_at(packer->out->data + TOTAL_AT, packer->out->length, 4);
    put_at(packer->out->data + COUNT_AT, packed, 4);
    return true;
}

static bool pack_operations(JSContext *ctx, struct writer *out, JSValueConst shapes, JSValueConst actors, JSValueConst operations) {
    struct packer packer = { .out = out, .shapes = shapes, .kind = JS_ATOM_NULL };
    if (!host_length(ctx, actors, &packer.actor_count)) return false;
    if (packer.actor_count > MAX_ACTORS) {
        JS_ThrowRangeError(ctx, "too many actors");
        return false;
    }
    for (uint32_t i = 0; i < packer.actor_count; i++) {
        JSValue name = JS_GetPropertyUint32(ctx, actors, i);
        packer.actors[i] = JS_ValueToAtom(ctx, name);
        JS_FreeValue(ctx, name);
    }
    packer.op = JS_NewAtom(ctx, "op");
    packer.args = JS_NewAtom(ctx, "args");
    packer.actor = JS_NewAtom(ctx, "actor");
    bool ok = pack_each(ctx, &packer, operations);
    forget_kind(ctx, &packer);
    JS_FreeAtom(ctx, packer.actor);
    JS_FreeAtom(ctx, packer.args);
    JS_FreeAtom(ctx, packer.op);
    for (uint32_t i = 0; i < packer.actor_count; i++) JS_FreeAtom(ctx, packer.actors[i]);
    return ok;
}

/* Several functions search the list of operations. One turn of a loop costs ten times as much in the interpreter as here. */
HOST_CALL(host_find_next, "vvvi") {
    uint32_t length, from = a[3].bits;
    if (!host_length(ctx, a[0].value, &length)) return JS_EXCEPTION;
    JSAtom member = JS_ValueToAtom(ctx, a[1].value);
    bool found = false;
    /* Neighbours often have the same word, as the same value: it is compared once. */
    JSValue other = JS_UNDEFINED;
    for (; from < length; from++) {
        JSValue item = JS_GetPropertyUint32(ctx, a[0].value, from), value = JS_GetProperty(ctx, item, member);
        JS_FreeValue(ctx, item);
        bool is_known = JS_IsString(value) && JS_IsString(other) && JS_VALUE_GET_PTR(value) == JS_VALUE_GET_PTR(other);
        found = !is_known && JS_StrictEq(ctx, value, a[2].value);
        JS_FreeValue(ctx, other);
        other = value;
        if (found) break;
    }
    JS_FreeValue(ctx, other);
    JS_FreeAtom(ctx, member);
    return JS_NewInt32(ctx, found ? (int32_t)from : -1);
}

HOST_CALL(host_pack_plan, "iiivvv") {
    struct writer out = { js_malloc(ctx, 16384), 0, 16384 };
    bool ok = out.data && put(ctx, &out, a[0].bits, 4) && put(ctx, &out, a[1].bits, 4) && put(ctx, &out, 0, 8) &&
              put(ctx, &out, a[2].bits, 4) && pack_operations(ctx, &out, a[3].value, a[4].value, a[5].value);
    if (ok) return JS_NewArrayBuffer(ctx, out.data, out.length, free_buffer, NULL, false);
    js_free(ctx, out.data);
    return JS_EXCEPTION;
}
