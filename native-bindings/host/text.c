/* Text and bytes: UTF-8 in both directions, hashing, one scan of JSON text, and the words of an errno. */
#include "text.h"

#include "arguments.h"
#include "error.h"
#include "function.h"
#include "sha256.h"

#include <string.h>

#define NOT_ASCII 0x8080808080808080u

/* Two at once, where the machine can. */
typedef uint64_t pair __attribute__((vector_size(16)));

static pair pair_at(const uint8_t *data) {
    pair two;
    memcpy(&two, data, sizeof(two));
    return two;
}

bool host_is_ascii(const uint8_t *data, size_t length) {
    uint64_t bytes = 0, all = 0;
    size_t i = 0;
    for (; length - i >= sizeof(bytes); i += sizeof(bytes)) {
        memcpy(&bytes, data + i, sizeof(bytes));
        all |= bytes;
    }
    for (; i < length; i++) all |= data[i];
    return !(all & NOT_ASCII);
}

size_t host_utf8_prefix(const uint8_t *data, size_t length) {
    size_t i = 0;
    while (i < length) {
        if (length - i >= 4 * sizeof(pair)) {
            pair all = pair_at(data + i) | pair_at(data + i + sizeof(pair)) | pair_at(data + i + 2 * sizeof(pair)) |
                       pair_at(data + i + 3 * sizeof(pair));
            if (!((all[0] | all[1]) & NOT_ASCII)) {
                i += 4 * sizeof(pair);
                continue;
            }
        }
        uint8_t lead = data[i];
        if (lead < 0x80) {
            i++;
            continue;
        }
        size_t extra;
        uint8_t low = 0x80, high = 0xbf; /* bounds of the second byte: no overlong forms, no surrogates, <= U+10FFFF */
        if (lead >= 0xc2 && lead <= 0xdf) {
            extra = 1;
        } else if (lead >= 0xe0 && lead <= 0xef) {
            extra = 2;
            if (lead == 0xe0) low = 0xa0;
            if (lead == 0xed) high = 0x9f;
        } else if (lead >= 0xf0 && lead <= 0xf4) {
            extra = 3;
            if (lead == 0xf0) low = 0x90;
            if (lead == 0xf4) high = 0x8f;
        } else {
            return i;
        }
        if (length - i <= extra || data[i + 1] < low || data[i + 1] > high) return i;
        for (size_t k = 2; k <= extra; k++)
            if ((data[i + k] & 0xc0) != 0x80) return i;
        i += extra + 1;
    }
    return i;
}

JSValue host_utf8_string(JSContext *ctx, const uint8_t *data, size_t length, const char *path) {
    if (host_utf8_prefix(data, length) != length) return host_throw(ctx, EILSEQ, "utf-8", path);
    return JS_NewStringLen(ctx, (const char *)data, length);
}

HOST_CALL(host_utf8_encode, "b") { return JS_NewArrayBufferCopy(ctx, a[0].bytes.data, a[0].bytes.length); }

HOST_CALL(host_utf8_decode, "A?ii") {
    const size_t size = a[0].bytes.length, offset = a[1].bits;
    if (offset > size) return JS_ThrowRangeError(ctx, "offset beyond the buffer");
    const size_t length = a[2].is_given ? a[2].bits : size - offset;
    if (length > size - offset) return JS_ThrowRangeError(ctx, "length beyond the buffer");
    return host_utf8_string(ctx, a[0].bytes.data + offset, length, NULL);
}

/* Doubles hold every number of up to 15 digits; with 16 the exact parser has to look. */
#define EXACT_DIGITS 15

static bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'; }

/* Whether more than EXACT_DIGITS characters of numbers stand in a row, in a string or not: looks at few of the others. */
static bool may_have_long_number(const char *text, size_t length) {
    for (size_t end = EXACT_DIGITS; end < length;) {
        size_t at = end;
        while (is_of_number(text[at])) {
            if (at + EXACT_DIGITS == end) return true;
            at--;
        }
        end = at + EXACT_DIGITS + 1;
    }
    return false;
}

/* Deeper nesting than any configuration has. The exact parser (src/runtime/spec/json.ts) has the same limit, and refuses what is beyond. */
#define DEEPEST 256

typedef uint8_t lanes __attribute__((vector_size(16)));

/* Whether more than DEEPEST objects and lists begin, in a string or not. */
static bool may_be_deep(const char *text, size_t length) {
    size_t count = 0, i = 0;
    while (length - i >= sizeof(lanes)) {
        lanes sums = { 0 };
        /* A lane counts to 255. */
        for (size_t end = length - i > 255 * sizeof(lanes) ? i + 255 * sizeof(lanes) : length; end - i >= sizeof(lanes);
             i += sizeof(lanes)) {
            lanes bytes;
            memcpy(&bytes, text + i, sizeof(bytes));
            /* '[' and '{' differ in this bit. */
            sums -= (lanes)((bytes | 0x20) == '{');
        }
        for (size_t lane = 0; lane < sizeof(lanes); lane++) count += sums[lane];
    }
    for (; i < length; i++) count += (text[i] | 0x20) == '{';
    return count > DEEPEST;
}

HOST_CALL(host_needs_exact_parser, "b") {
    const char *text = (const char *)a[0].bytes.data;
    size_t length = a[0].bytes.length;
    bool in_string = false, found = false;
    unsigned digits = 0, depth = 0;
    if (!may_have_long_number(text, length) && !may_be_deep(text, length)) length = 0;
    for (size_t i = 0; i < length && !found; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\') i++;
            else if (c == '"') in_string = false;
        } else if (c >= '0' && c <= '9') {
            found = ++digits > EXACT_DIGITS;
        } else if (c == '"') {
            in_string = true;
            digits = 0;
        } else if (!is_of_number(c)) {
            digits = 0;
            if (c == '[' || c == '{') found = ++depth > DEEPEST;
            else if ((c == ']' || c == '}') && depth > 0) depth--;
        }
    }
    return JS_NewBool(ctx, found);
}

HOST_CALL(host_sha256, "b") {
    char hex[65];
    sha256_hex(a[0].bytes.data, a[0].bytes.length, hex);
    return JS_NewString(ctx, hex);
}

HOST_CALL(host_strerror, "i") {
    char unknown[ERROR_TEXT_MAX];
    return JS_NewString(ctx, host_error_text(a[0].number, unknown));
}

HOST_CALL(host_errno_name_js, "i") { return host_error_name(ctx, a[0].number); }
