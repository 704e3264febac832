#include "str.h"

/* gcc emits calls of these four whatever it is told; the hosted build takes the sanitizers' versions. */
#ifndef RUNT_HOSTED
void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  char *t = to;
  const char *f = from;
  while (size-- > 0) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  char *t = to;
  const char *f = from;
  if (t < f) {
    while (size-- > 0) *t++ = *f++;
  } else {
    while (size-- > 0) t[size] = f[size];
  }
  return to;
}

void *memset(void *to, int byte, size_t size) {
  char *t = to;
  while (size-- > 0) *t++ = (char)byte;
  return to;
}

int memcmp(const void *a, const void *b, size_t size) {
  const unsigned char *x = a, *y = b;
  for (; size > 0; size--, x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length] != 0) length++;
  return length;
}
#endif

bool text_equal(const char *a, const char *b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a == *b;
}

bool text_starts_with(const char *text, const char *prefix) {
  while (*prefix != 0 && *text == *prefix) text++, prefix++;
  return *prefix == 0;
}

const char *text_find(const char *text, char byte) {
  for (; *text != 0; text++)
    if (*text == byte) return text;
  return NULL;
}

bool text_to_u64(const char *text, uint64_t *out) {
  uint64_t value = 0;
  if (*text == 0) return false;
  for (; *text != 0; text++) {
    if (*text < '0' || *text > '9') return false;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value)) return false;
  }
  *out = value;
  return true;
}

void put_bytes(struct buffer *out, const char *bytes, size_t length) {
  if (length >= out->size - out->used) {
    length = out->size - out->used - 1;
    out->truncated = true;
  }
  memcpy(out->at + out->used, bytes, length);
  out->used += length;
  out->at[out->used] = 0;
}

void put_text(struct buffer *out, const char *text) { put_bytes(out, text, strlen(text)); }

static void put_digits(struct buffer *out, uint64_t value, unsigned base) {
  char digits[24];
  size_t at = sizeof digits;
  do {
    digits[--at] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value > 0);
  put_bytes(out, digits + at, sizeof digits - at);
}

void put_u64(struct buffer *out, uint64_t value) { put_digits(out, value, 10); }
void put_octal(struct buffer *out, uint64_t value) { put_digits(out, value, 8); }
void put_hex(struct buffer *out, uint64_t value) { put_digits(out, value, 16); }

void put_i64(struct buffer *out, int64_t value) {
  if (value < 0) put_text(out, "-");
  put_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}
