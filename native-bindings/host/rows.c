/* Rows of a table, kept as bytes until the widths of its columns are known: thousands of them as JavaScript values would be megabytes. */
#include "rows.h"

#include "../shared/str.h"
#include "arguments.h"
#include "copy.h"
#include "error.h"
#include "function.h"
#include "output.h"
#include "text.h"

#include <string.h>

#define BLOCK_SIZE ((size_t)16 << 10)
#define MOST_COLUMNS 16
/* Blanks behind the widest cell of a column. */
#define GAP 3

/*
 * Cells one after the other: twice the length (variable, seven bits a byte, the lowest first), one more when it is not all ASCII, and bytes. No cell
 * lies in two blocks.
 */
struct block {
    struct block *next;
    size_t used;
    size_t capacity;
    uint8_t data[];
};
static struct block *first_block, *last_block;
static size_t widths[MOST_COLUMNS];
static unsigned columns;

static bool has_room(JSContext *ctx, size_t needed) {
    if (last_block && last_block->capacity - last_block->used >= needed) return true;
    size_t capacity = needed > BLOCK_SIZE - sizeof(struct block) ? needed : BLOCK_SIZE - sizeof(struct block);
    struct block *block = js_malloc(ctx, sizeof(*block) + capacity);
    if (!block) return false;
    block->next = NULL;
    block->used = 0;
    block->capacity = capacity;
    if (last_block) last_block->next = block;
    else first_block = block;
    last_block = block;
    return true;
}

/* The length in UTF-16 units, as JavaScript counts it. */
static size_t width_of(const uint8_t *text, size_t length, bool is_ascii) {
    if (is_ascii) return length;
    size_t width = 0;
    for (size_t i = 0; i < length; i++) width += ((text[i] & 0xc0) != 0x80) + (text[i] >= 0xf0);
    return width;
}

static bool add_cell(JSContext *ctx, const uint8_t *text, size_t length, bool is_ascii) {
    if (!has_room(ctx, length + 10)) return false;
    uint8_t *at = last_block->data + last_block->used;
    size_t rest = length << 1 | !is_ascii;
    for (; rest >= 0x80; rest >>= 7) *at++ = (uint8_t)(rest | 0x80);
    *at++ = (uint8_t)rest;
    host_copy_few(at, text, length);
    last_block->used = (size_t)(at + length - last_block->data);
    return true;
}

/* Whether all of it is printable ASCII, as in nearly every cell. */
static bool is_plain(const uint8_t *text, size_t length) {
    bool unusual = false;
    for (size_t i = 0; i < length; i++) unusual |= (uint8_t)(text[i] - 0x20) > 0x7e - 0x20;
    return !unusual;
}

/* Escapes the text of a cell: a line feed from a configuration or an image begins no row, and a control sequence does not reach the terminal. */
static bool add_escaped(JSContext *ctx, unsigned column, const struct row_cell *cell) {
    size_t size = cell->length * 6 + 1;
    char *text = js_malloc(ctx, size);
    if (!text) return false;
    struct buffer out = { text, size, 0, false };
    put_printable(&out, (const char *)cell->text, cell->length);
    const uint8_t *bytes = (const uint8_t *)text;
    bool is_ascii = host_is_ascii(bytes, out.used);
    size_t width = width_of(bytes, out.used, is_ascii);
    if (width > widths[column]) widths[column] = width;
    bool ok = add_cell(ctx, bytes, out.used, is_ascii);
    js_free(ctx, text);
    return ok;
}

bool host_add_cells(JSContext *ctx, const struct row_cell *cells, unsigned count) {
    if (count == 0 || count > MOST_COLUMNS || (columns && columns != count)) {
        JS_ThrowTypeError(ctx, "another number of columns");
        return false;
    }
    columns = count;
    for (unsigned i = 0; i < count; i++) {
        if (!is_plain(cells[i].text, cells[i].length)) {
            if (!add_escaped(ctx, i, &cells[i])) return false;
            continue;
        }
        if (cells[i].length > widths[i]) widths[i] = cells[i].length;
        if (!add_cell(ctx, cells[i].text, cells[i].length, true)) return false;
    }
    return true;
}

HOST_FUNCTION(host_add_row) {
    struct row_cell cells[MOST_COLUMNS] = { 0 };
    int count = 0;
    bool ok = true;
    for (; ok && count < argc && count < MOST_COLUMNS; count += ok) {
        const char *text = JS_ToCStringLen(ctx, &cells[count].length, argv[count]);
        cells[count].text = (const uint8_t *)text;
        ok = text != NULL;
    }
    ok = ok && host_add_cells(ctx, cells, (unsigned)argc);
    while (count > 0) JS_FreeCString(ctx, (const char *)cells[--count].text);
    return ok ? JS_UNDEFINED : JS_EXCEPTION;
}

struct output {
    int fd;
    int error;
    size_t used;
    uint8_t data[BLOCK_SIZE];
};

static void flush(struct output *out) {
    if (!out->error && host_write_all(out->fd, out->data, out->used) < 0) out->error = errno;
    out->used = 0;
}

/* `text`: NULL for blanks. */
static void put(struct output *out, const uint8_t *text, size_t length) {
    while (length > 0) {
        size_t part = sizeof(out->data) - out->used;
        if (part > length) part = length;
        if (text) host_copy_few(out->data + out->used, text, part);
        else memset(out->data + out->used, ' ', part);
        if (text) text += part;
        out->used += part;
        length -= part;
        if (out->used == sizeof(out->data)) flush(out);
    }
}

static void put_block(struct output *out, const struct block *block, unsigned *column) {
    for (const uint8_t *at = block->data, *end = at + block->used; at < end;) {
        size_t length = 0;
        for (unsigned shift = 0;; shift += 7) {
            length |= (size_t)(*at & 0x7f) << shift;
            if (*at++ < 0x80) break;
        }
        bool is_ascii = !(length & 1);
        length >>= 1;
        put(out, at, length);
        if (*column + 1 == columns) {
            put(out, (const uint8_t *)"\n", 1);
            *column = 0;
        } else {
            put(out, NULL, widths[*column] - width_of(at, length, is_ascii));
            ++*column;
        }
        at += length;
    }
}

HOST_CALL(host_write_rows, "ii") {
    static struct output out;
    const size_t minimum = a[1].bits;
    out.fd = a[0].number;
    out.error = 0;
    for (unsigned i = 0; i < columns; i++) {
        widths[i] += GAP;
        if (widths[i] < minimum) widths[i] = minimum;
    }
    unsigned column = 0;
    for (struct block *block = first_block, *next; block; block = next) {
        next = block->next;
        put_block(&out, block, &column);
        js_free(ctx, block);
    }
    flush(&out);
    first_block = last_block = NULL;
    columns = 0;
    memset(widths, 0, sizeof(widths));
    return out.error ? host_throw(ctx, out.error, "write", NULL) : JS_UNDEFINED;
}
