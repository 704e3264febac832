/*
 * Members of a JSON object by their names, without building the rest of it: a list reads many records and uses little of each.
 *
 * Strict: only what RFC 8259 allows, no deeper than DEEPEST, no escapes in names, no wanted member twice. Whatever else there is makes it give up, and
 * the caller takes JSON.parse, whose word counts. Values that are not plain are given to the engine's own parser.
 */
#include "host.h"

#include <string.h>

#define DEEPEST 32
#define MOST_NAMES 32
/* Doubles hold every integer of so many digits. */
#define EXACT_DIGITS 15

struct wanted {
    const char *name;
    size_t length;
    JSAtom atom;
    unsigned end; /* behind its own members, which follow it */
};
struct names {
    unsigned count;
    unsigned top_level;
    struct wanted list[MOST_NAMES];
};

static const uint64_t ONES = 0x0101010101010101u, HIGHS = 0x8080808080808080u;

/* Of eight bytes, the first being the lowest: a bit in the first that is a quote, a backslash or a control character; 0 when none is. */
static uint64_t ends_plain(uint64_t bytes) {
    uint64_t quote = bytes ^ ONES * '"', backslash = bytes ^ ONES * '\\';
    return (((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash) | ((bytes - ONES * 0x20) & ~bytes)) & HIGHS;
}

static bool is_hex(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Every skip_ function: from the first byte of a thing to behind it, or NULL. The text has a NUL at its end, which ends everything. */

/* Behind an opening quote. *plain becomes false when there is an escape. */
static uint8_t *skip_string(uint8_t *at, const uint8_t *end, bool *plain) {
    for (;;) {
        uint64_t bytes;
        while (end - at >= (ptrdiff_t)sizeof(bytes)) {
            memcpy(&bytes, at, sizeof(bytes));
            uint64_t special = ends_plain(bytes);
            if (special) {
                at += __builtin_ctzll(special) / 8;
                break;
            }
            at += sizeof(bytes);
        }
        while (*at >= 0x20 && *at != '"' && *at != '\\') at++;
        if (*at == '"') return at + 1;
        if (*at != '\\') return NULL;
        *plain = false;
        at++;
        if (*at == 'u') {
            for (int i = 1; i <= 4; i++)
                if (!is_hex(at[i])) return NULL;
            at += 5;
        } else if (*at && strchr("\"\\/bfnrt", *at)) {
            at++;
        } else {
            return NULL;
        }
    }
}

static uint8_t *skip_digits(uint8_t *at) {
    if (*at < '0' || *at > '9') return NULL;
    while (*at >= '0' && *at <= '9') at++;
    return at;
}

static uint8_t *skip_number(uint8_t *at) {
    if (*at == '-') at++;
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at && *at == '.') at = skip_digits(at + 1);
    if (at && (*at == 'e' || *at == 'E')) {
        at++;
        if (*at == '+' || *at == '-') at++;
        at = skip_digits(at);
    }
    return at;
}

static uint8_t *skip_word(uint8_t *at, const char *word) {
    size_t length = strlen(word);
    return strncmp((const char *)at, word, length) == 0 ? at + length : NULL;
}

static uint8_t *skip_space(uint8_t *at) {
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
    return at;
}

/* A name and the colon behind it, up to the value. */
static uint8_t *skip_name(uint8_t *at, const uint8_t *end, bool *plain) {
    if (*at != '"') return NULL;
    at = skip_string(at + 1, end, plain);
    if (!at) return NULL;
    at = skip_space(at);
    return *at == ':' ? skip_space(at + 1) : NULL;
}

static uint8_t *skip_value(uint8_t *at, const uint8_t *end, unsigned depth);

/* An object or an array. */
static uint8_t *skip_group(uint8_t *at, const uint8_t *end, unsigned depth) {
    if (depth == DEEPEST) return NULL;
    bool plain, is_object = *at == '{';
    uint8_t closing = is_object ? '}' : ']';
    at = skip_space(at + 1);
    if (*at == closing) return at + 1;
    for (;;) {
        if (is_object && !(at = skip_name(at, end, &plain))) return NULL;
        at = skip_value(at, end, depth + 1);
        if (!at) return NULL;
        at = skip_space(at);
        if (*at == closing) return at + 1;
        if (*at != ',') return NULL;
        at = skip_space(at + 1);
    }
}

static uint8_t *skip_value(uint8_t *at, const uint8_t *end, unsigned depth) {
    bool plain;
    switch (*at) {
    case '"': return skip_string(at + 1, end, &plain);
    case '{':
    case '[': return skip_group(at, end, depth);
    case 't': return skip_word(at, "true");
    case 'f': return skip_word(at, "false");
    case 'n': return skip_word(at, "null");
    default: return skip_number(at);
    }
}

/* The text of one value, by the engine's parser, which wants a NUL behind it. */
static JSValue parse_part(JSContext *ctx, uint8_t *start, uint8_t *end) {
    uint8_t behind = *end;
    *end = 0;
    JSValue value = JS_ParseJSON(ctx, (const char *)start, (size_t)(end - start), "value");
    *end = behind;
    return value;
}

static JSValue plain_string(JSContext *ctx, const uint8_t *start, const uint8_t *behind_quote) {
    return JS_NewStringLen(ctx, (const char *)start, (size_t)(behind_quote - 1 - start));
}

/* An array of plain strings and nothing else, which goes to `array`; behind it, or NULL. */
static uint8_t *take_strings(JSContext *ctx, uint8_t *at, const uint8_t *end, JSValueConst array) {
    bool plain = true;
    uint32_t count = 0;
    for (at = skip_space(at + 1); *at == '"'; at = skip_space(at + 1)) {
        uint8_t *start = at + 1;
        at = skip_string(start, end, &plain);
        if (!at || !plain) return NULL;
        JS_SetPropertyUint32(ctx, array, count++, plain_string(ctx, start, at));
        at = skip_space(at);
        if (*at == ']') return at + 1;
        if (*at != ',') return NULL;
    }
    return NULL;
}

/* The value at the cursor, which goes behind it; JS_UNDEFINED when it is none. */
static JSValue take_value(JSContext *ctx, uint8_t **cursor, const uint8_t *end) {
    uint8_t *start = *cursor;
    if (*start == '"') {
        bool plain = true;
        uint8_t *behind = skip_string(start + 1, end, &plain);
        if (!behind) return JS_UNDEFINED;
        *cursor = behind;
        return plain ? plain_string(ctx, start + 1, behind) : parse_part(ctx, start, behind);
    }
    if (start[0] == '{' && start[1] == '}') {
        *cursor = start + 2;
        return JS_NewObject(ctx);
    }
    if (*start == '0' && (start[1] == ',' || start[1] == '}')) {
        *cursor = start + 1;
        return JS_NewInt32(ctx, 0);
    }
    if (*start >= '1' && *start <= '9') {
        int64_t number = 0;
        uint8_t *at = start;
        for (; *at >= '0' && *at <= '9' && at - start <= EXACT_DIGITS; at++) number = number * 10 + (*at - '0');
        if (at - start <= EXACT_DIGITS && *at != '.' && *at != 'e' && *at != 'E') {
            *cursor = at;
            return JS_NewInt64(ctx, number);
        }
    }
    if (*start == '[') {
        JSValue array = JS_NewArray(ctx);
        uint8_t *behind = take_strings(ctx, start, end, array);
        if (behind) {
            *cursor = behind;
            return array;
        }
        JS_FreeValue(ctx, array);
    }
    uint8_t *behind = skip_value(start, end, 1);
    if (!behind) return JS_UNDEFINED;
    *cursor = behind;
    return parse_part(ctx, start, behind);
}

struct scan {
    JSContext *ctx;
    const struct names *names;
    const uint8_t *end;
};
static uint8_t *take_member(const struct scan *scan, JSValueConst object, uint8_t *at, unsigned index);

/* The one among [first, last) whose name stands here in front of a quote; `last` when none does. `likely`: where to look first. */
static unsigned find(const struct scan *scan, unsigned first, unsigned last, unsigned likely, const uint8_t *text) {
    for (unsigned i = likely < last ? likely : first, next; i < last; i = next) {
        const struct wanted *wanted = &scan->names->list[i];
        size_t length = wanted->length;
        if ((size_t)(scan->end - text) > length && text[length] == '"' && memcmp(wanted->name, text, length) == 0) return i;
        next = i == likely ? first : wanted->end;
        if (next == likely && next < last) next = scan->names->list[likely].end;
    }
    return last;
}

/*
 * The members [first, last) of the object at `at`, as properties of another; behind the object, or NULL. When none of them is *left any more, the rest
 * is not looked at.
 */
static uint8_t *take_members(const struct scan *scan, JSValueConst object, uint8_t *at, unsigned first, unsigned last, unsigned *left) {
    uint64_t found = 0;
    unsigned likely = first;
    if (*at != '{') return NULL;
    at = skip_space(at + 1);
    if (*at == '}') return at + 1;
    for (;;) {
        const uint8_t *name = at + 1;
        bool plain = true;
        at = skip_name(at, scan->end, &plain);
        if (!at || !plain) return NULL;
        unsigned index = find(scan, first, last, likely, name);
        if (index == last) {
            at = skip_value(at, scan->end, 1);
        } else {
            if (found & (uint64_t)1 << index) return NULL;
            found |= (uint64_t)1 << index;
            likely = scan->names->list[index].end;
            at = take_member(scan, object, at, index);
            if (--*left == 0) return at;
        }
        if (!at) return NULL;
        at = skip_space(at);
        if (*at == '}') return at + 1;
        if (*at != ',') return NULL;
        at = skip_space(at + 1);
    }
}

/* The member of this index, whose value is at `at`; behind it, or NULL. */
static uint8_t *take_member(const struct scan *scan, JSValueConst object, uint8_t *at, unsigned index) {
    const struct wanted *wanted = &scan->names->list[index];
    JSValue value;
    if (wanted->end > index + 1) {
        unsigned all = MOST_NAMES;
        value = JS_NewObject(scan->ctx);
        at = take_members(scan, value, at, index + 1, wanted->end, &all);
    } else {
        value = take_value(scan->ctx, &at, scan->end);
        if (JS_IsUndefined(value) || JS_IsException(value)) return NULL;
    }
    return JS_SetProperty(scan->ctx, object, wanted->atom, value) < 0 ? NULL : at;
}

/* The words of "a b(c d) e": the members a and e, and c and d of the object b. False: an exception is pending. */
static bool read_names(JSContext *ctx, const char *text, struct names *names) {
    unsigned open = MOST_NAMES;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " ()");
        if (length == 0 || names->count == MOST_NAMES) goto wrong;
        unsigned index = names->count++;
        names->list[index] = (struct wanted){ at, length, JS_NewAtomLen(ctx, at, length), index + 1 };
        at += length;
        if (open == MOST_NAMES) names->top_level++;
        if (*at == '(') {
            if (open != MOST_NAMES) goto wrong;
            open = index;
            at++;
            continue;
        }
        if (*at == ')') {
            if (open == MOST_NAMES) goto wrong;
            names->list[open].end = names->count;
            open = MOST_NAMES;
            at++;
        }
        if (*at == ' ') at++;
        else if (*at) goto wrong;
    }
    if (open == MOST_NAMES) return true;
wrong:
    JS_ThrowTypeError(ctx, "not a list of names");
    return false;
}

/* The names of the last call are kept: a list asks for the same each time. */
static const struct names *names_of(JSContext *ctx, JSValueConst value) {
    static struct names names;
    static const void *last;
    if (JS_IsString(value) && JS_VALUE_GET_PTR(value) == last) return &names;
    const char *text = host_text(ctx, value);
    if (!text) return NULL;
    /* The names stay in it for good, and the string where it is. */
    last = NULL;
    memset(&names, 0, sizeof(names));
    if (!read_names(ctx, text, &names)) return NULL;
    last = JS_VALUE_GET_PTR(JS_DupValue(ctx, value));
    return &names;
}

/* True: `object` has them, and *left is how many are absent. */
static bool fill(JSContext *ctx, JSValueConst object, uint8_t *text, size_t length, const struct names *names, unsigned *left) {
    struct scan scan = { ctx, names, text + length };
    *left = names->top_level;
    uint8_t *at = take_members(&scan, object, skip_space(text), 0, names->count, left);
    if (at) at = skip_space(at);
    /* What is not looked at has to have an end at least. */
    return at && (*left ? at == scan.end : (*at == ',' || *at == '}') && scan.end[-1] == '}');
}

JSValue host_json_members(JSContext *ctx, uint8_t *text, size_t length, JSValueConst name_list, JSValueConst into) {
    unsigned left;
    const struct names *names = names_of(ctx, name_list);
    if (!names) return JS_EXCEPTION;
    JSValue object = JS_IsObject(into) ? JS_DupValue(ctx, into) : JS_NewObject(ctx);
    bool ok = !JS_IsException(object) && fill(ctx, object, text, length, names, &left);
    if (ok && left && JS_IsObject(into)) {
        /* The other object has members of a former text. */
        JS_FreeValue(ctx, object);
        object = JS_NewObject(ctx);
        ok = fill(ctx, object, text, length, names, &left);
    }
    if (ok) return object;
    JS_FreeValue(ctx, object);
    /* What the engine's parser has found wrong with a part is for the caller's parser of the whole to say. */
    JS_FreeValue(ctx, JS_GetException(ctx));
    return JS_UNDEFINED;
}
