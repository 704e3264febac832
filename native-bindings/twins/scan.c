/*
 * Where the values of named members stand in a JSON text, without building anything: a list reads many records and uses little of each.
 *
 * Twin: JSON.parse. Compared by: test/native/host/members.ts; test/fuzz-init/host/record.c tries random texts. Gain: docs/startup.md#list.
 *
 * Strict: only what RFC 8259 allows, no deeper than DEEPEST, no escapes in names, no wanted member twice. Whatever else there is makes it give up, and
 * the caller uses JSON.parse, whose answer counts.
 */
#include "scan.h"

#include <string.h>

#define DEEPEST 32

static const uint64_t ONES = 0x0101010101010101u, HIGHS = 0x8080808080808080u;

/* Of eight bytes, the first being the lowest: a bit in the first that is a quote, a backslash or a control character; 0 when none is. */
static uint64_t ends_plain(uint64_t bytes) {
    /* The quote becomes 0x20, and so the least above the control characters, which stay below it; the others stay above. */
    uint64_t lowered = bytes ^ ONES * 2, backslash = bytes ^ ONES * '\\';
    return (((lowered - ONES * 0x21) & ~bytes) | ((backslash - ONES) & ~backslash)) & HIGHS;
}

static bool is_hex(uint8_t c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* Every skip_ function: from the first byte of a thing to behind it, or NULL. The text has a NUL at its end, which ends everything. */

uint8_t *json_skip_string(uint8_t *at, const uint8_t *end, bool *plain) {
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

/* From behind a name to the value. */
static uint8_t *skip_colon(uint8_t *at) {
    at = skip_space(at);
    return *at == ':' ? skip_space(at + 1) : NULL;
}

/* A name and the colon behind it, up to the value. */
static uint8_t *skip_name(uint8_t *at, const uint8_t *end, bool *plain) {
    if (*at != '"') return NULL;
    at = json_skip_string(at + 1, end, plain);
    return at ? skip_colon(at) : NULL;
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
    case '"': return json_skip_string(at + 1, end, &plain);
    case '{':
    case '[': return skip_group(at, end, depth);
    case 't': return skip_word(at, "true");
    case 'f': return skip_word(at, "false");
    case 'n': return skip_word(at, "null");
    default: return skip_number(at);
    }
}

struct scan {
    const struct json_names *names;
    const uint8_t *end;
    struct json_span *spans;
};
static uint8_t *take_member(const struct scan *scan, uint8_t *at, unsigned index);

/* The first eight bytes, and zeros behind the end. */
static uint64_t word_at(const void *text, size_t length) {
    uint64_t word = 0;
    if (length >= sizeof(word)) memcpy(&word, text, sizeof(word));
    else memcpy(&word, text, length);
    return word;
}

/* Whether this name and a quote stand here; `word`: of the text. */
static bool stands_here(const struct json_name *name, uint64_t word, const uint8_t *text, const uint8_t *end) {
    if ((word ^ name->head) & name->mask) return false;
    return name->length < sizeof(word) ||
           ((size_t)(end - text) > name->length && text[name->length] == '"' && memcmp(name->text, text, name->length) == 0);
}

/* The one among [first, last) whose name stands here in front of a quote; `last` when none does. `likely`: where to look first. */
static unsigned find(const struct scan *scan, unsigned first, unsigned last, unsigned likely, const uint8_t *text) {
    uint64_t word = word_at(text, (size_t)(scan->end - text));
    for (unsigned i = likely < last ? likely : first, next; i < last; i = next) {
        if (stands_here(&scan->names->list[i], word, text, scan->end)) return i;
        next = i == likely ? first : scan->names->list[i].end;
        if (next == likely && next < last) next = scan->names->list[likely].end;
    }
    return last;
}

/* The members [first, last) of the object at `at`; behind the object, or NULL. When none of them is *left any more, the rest is not looked at. */
static uint8_t *take_members(const struct scan *scan, uint8_t *at, unsigned first, unsigned last, unsigned *left) {
    unsigned likely = first;
    if (*at != '{') return NULL;
    at = skip_space(at + 1);
    if (*at == '}') return at + 1;
    for (;;) {
        bool plain = true;
        unsigned index = *at == '"' ? find(scan, first, last, likely, at + 1) : last;
        if (index == last) {
            at = skip_name(at, scan->end, &plain);
            if (!at || !plain) return NULL;
            at = skip_value(at, scan->end, 1);
        } else {
            at = skip_colon(at + 1 + scan->names->list[index].length + 1);
            if (!at || scan->spans[index].start) return NULL;
            likely = scan->names->list[index].end;
            at = take_member(scan, at, index);
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
static uint8_t *take_member(const struct scan *scan, uint8_t *at, unsigned index) {
    unsigned end = scan->names->list[index].end, all = JSON_MOST_NAMES;
    scan->spans[index].start = at;
    at = end > index + 1 ? take_members(scan, at, index + 1, end, &all) : skip_value(at, scan->end, 1);
    scan->spans[index].end = at;
    return at;
}

bool json_scan(uint8_t *text, size_t length, const struct json_names *names, struct json_span *spans, unsigned *left) {
    struct scan scan = { names, text + length, spans };
    *left = names->top_level;
    memset(spans, 0, names->count * sizeof(*spans));
    uint8_t *at = take_members(&scan, skip_space(text), 0, names->count, left);
    if (at) at = skip_space(at);
    /* A value that is not looked at must at least be closed. */
    return at && (*left ? at == scan.end : (*at == ',' || *at == '}') && scan.end[-1] == '}');
}

bool json_read_names(const char *text, struct json_names *names) {
    unsigned open = JSON_MOST_NAMES;
    names->count = names->top_level = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " ()");
        if (length == 0 || names->count == JSON_MOST_NAMES) return false;
        unsigned index = names->count++;
        /* Short ones with their quote. */
        uint64_t quote = length < 8 ? (uint64_t)'"' << 8 * length : 0,
                 mask = length < 7 ? ((uint64_t)1 << 8 * (length + 1)) - 1 : ~(uint64_t)0;
        names->list[index] = (struct json_name){ at, length, index + 1, word_at(at, length) | quote, mask };
        at += length;
        if (open == JSON_MOST_NAMES) names->top_level++;
        if (*at == '(') {
            if (open != JSON_MOST_NAMES) return false;
            open = index;
            at++;
            continue;
        }
        if (*at == ')') {
            if (open == JSON_MOST_NAMES) return false;
            names->list[open].end = names->count;
            open = JSON_MOST_NAMES;
            at++;
        }
        if (*at == ' ') at++;
        else if (*at) return false;
    }
    return open == JSON_MOST_NAMES;
}
