/*
 * Members of a JSON object by their names, as JavaScript values, without building the rest of it. Those that are not plain are given to the engine's parser.
 *
 * Twin: JSON.parse of the whole record (recordAt of src/runtime/state/store.ts). Compared by: test/native/host/members.ts. Gain: docs/startup.md#list.
 */
#include "../host/arguments.h"
#include "../host/error.h"
#include "../host/files.h"
#include "../host/function.h"
#include "../host/text.h"
#include "scan.h"

#include <fcntl.h>
#include <string.h>

/* Doubles hold every integer of so many digits. */
#define EXACT_DIGITS 15

struct members {
    struct json_names names;
    JSAtom atoms[JSON_MOST_NAMES];
};

/* Of a text that json_scan has been through. It may be written to: the engine's parser wants a NUL behind it. */
static JSValue parse(JSContext *ctx, struct json_span text) {
    uint8_t behind = *text.end;
    *text.end = 0;
    JSValue value = JS_ParseJSON(ctx, (const char *)text.start, (size_t)(text.end - text.start), "value");
    *text.end = behind;
    return value;
}

/* An array of strings without escapes; JS_UNDEFINED when it holds something else. */
static JSValue strings(JSContext *ctx, struct json_span text) {
    JSValue array = JS_NewArray(ctx);
    uint32_t count = 0;
    for (uint8_t *at = text.start + 1;; at++) {
        while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
        if (*at == ']') return array;
        if (*at == ',') continue;
        if (*at != '"') break;
        bool plain = true;
        uint8_t *start = at + 1;
        at = json_skip_string(start, text.end, &plain) - 1;
        if (!plain) break;
        JS_SetPropertyUint32(ctx, array, count++, JS_NewStringLen(ctx, (const char *)start, (size_t)(at - start)));
    }
    JS_FreeValue(ctx, array);
    return JS_UNDEFINED;
}

static JSValue value_of(JSContext *ctx, struct json_span text) {
    size_t length = (size_t)(text.end - text.start);
    if (*text.start == '"') {
        bool plain = true;
        json_skip_string(text.start + 1, text.end, &plain);
        if (plain) return JS_NewStringLen(ctx, (const char *)text.start + 1, length - 2);
    } else if (*text.start == '{' && length == 2) {
        return JS_NewObject(ctx);
    } else if (*text.start == '[') {
        JSValue array = strings(ctx, text);
        if (!JS_IsUndefined(array)) return array;
    } else if (length <= EXACT_DIGITS) {
        int64_t number = 0;
        const uint8_t *at = text.start;
        for (; *at >= '0' && *at <= '9'; at++) number = number * 10 + (*at - '0');
        if (at == text.end) return JS_NewInt64(ctx, number);
    }
    return parse(ctx, text);
}

/* The members [first, last) that are there, as properties. False: an exception is pending. */
static bool fill(JSContext *ctx, JSValueConst object, const struct members *members, const struct json_span *spans, unsigned first,
                 unsigned last) {
    for (unsigned index = first, end; index < last; index = end) {
        end = members->names.list[index].end;
        if (!spans[index].start) continue;
        bool is_group = end > index + 1;
        JSValue value = is_group ? JS_NewObject(ctx) : value_of(ctx, spans[index]);
        if (JS_IsException(value)) return false;
        if (is_group && !fill(ctx, value, members, spans, index + 1, end)) {
            JS_FreeValue(ctx, value);
            return false;
        }
        if (JS_SetProperty(ctx, object, members->atoms[index], value) < 0) return false;
    }
    return true;
}

/* The names of the last call are kept: a list asks for the same each time. */
static const struct members *members_of(JSContext *ctx, JSValueConst value) {
    static struct members members;
    static const void *last;
    if (JS_IsString(value) && JS_VALUE_GET_PTR(value) == last) return &members;
    /* The names stay in it for good, and the string where it is. */
    const char *text = host_text(ctx, value);
    if (!text) return NULL;
    last = NULL;
    if (!json_read_names(text, &members.names)) {
        JS_ThrowTypeError(ctx, "not a list of names");
        return NULL;
    }
    for (unsigned i = 0; i < members.names.count; i++)
        members.atoms[i] = JS_NewAtomLen(ctx, members.names.list[i].text, members.names.list[i].length);
    last = JS_VALUE_GET_PTR(JS_DupValue(ctx, value));
    return &members;
}

/* Of a text that is valid UTF-8 with a NUL behind it. JS_UNDEFINED when it is not understood. `into`: undefined, or what a former call with these
   names has given, which may be filled anew. */
static JSValue members_in(JSContext *ctx, uint8_t *text, size_t length, JSValueConst name_list, JSValueConst into) {
    unsigned left;
    struct json_span spans[JSON_MOST_NAMES];
    const struct members *members = members_of(ctx, name_list);
    if (!members) return JS_EXCEPTION;
    if (!json_scan(text, length, &members->names, spans, &left)) return JS_UNDEFINED;
    /* When some are absent, the other object has those of a former text. */
    JSValue object = JS_IsObject(into) && left == 0 ? JS_DupValue(ctx, into) : JS_NewObject(ctx);
    if (JS_IsException(object)) return object;
    if (fill(ctx, object, members, spans, 0, members->names.count)) return object;
    JS_FreeValue(ctx, object);
    /* What the engine's parser has found wrong with a part is for the caller's parser of the whole to say. */
    JS_FreeValue(ctx, JS_GetException(ctx));
    return JS_UNDEFINED;
}

HOST_CALL(host_read_members, "sv?iv") {
    uint8_t *data;
    size_t length;
    if (!host_read_whole(ctx, a[2].is_given ? a[2].number : AT_FDCWD, a[0].text, true, &data, &length)) return JS_EXCEPTION;
    JSValue members;
    if (host_utf8_prefix(data, length) != length) members = host_throw(ctx, EILSEQ, "utf-8", a[0].text);
    else members = members_in(ctx, data, length, a[1].value, a[3].is_given ? a[3].value : JS_UNDEFINED);
    js_free(ctx, data);
    return members;
}
