/* Strings and memory without a libc. */
#ifndef RUNT_STR_H
#define RUNT_STR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memmove(void *to, const void *from, size_t size);
size_t strlen(const char *text);

bool text_equal(const char *a, const char *b);
bool text_starts_with(const char *text, const char *prefix);
/* The first place of a byte, or NULL. */
const char *text_find(const char *text, char byte);
/* Decimal digits only, the whole text; false on anything else or overflow. */
bool text_to_u64(const char *text, uint64_t *out);

/* The same of a number that fits: a descriptor, a pid. */
bool text_to_int(const char *text, int *out);

/* Appends into a fixed buffer, always NUL-terminated; `truncated` tells that something did not fit. */
struct buffer {
  char *at;
  size_t size, used;
  bool truncated;
};
#define BUFFER(array) \
  { (array), sizeof(array), 0, false }
void put_bytes(struct buffer *out, const char *bytes, size_t length);
void put_text(struct buffer *out, const char *text);
/* For people: control characters, line separators, changes of direction and what is no UTF-8 as escapes, as src/runtime/errors/printable.ts has them. */
void put_printable(struct buffer *out, const char *text, size_t length);
void put_u64(struct buffer *out, uint64_t value);
void put_i64(struct buffer *out, int64_t value);
void put_octal(struct buffer *out, uint64_t value);
void put_hex(struct buffer *out, uint64_t value);
#endif
