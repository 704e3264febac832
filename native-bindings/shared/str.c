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

bool text_to_int(const char *text, int *out) {
  uint64_t value;
  if (!text_to_u64(text, &value) || value > INT32_MAX) return false;
  *out = (int)value;
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

/* The character that begins here, and how many bytes it takes; 0 bytes where it is no UTF-8. */
static unsigned decode(const uint8_t *at, size_t left, uint32_t *character) {
  unsigned size = at[0] < 0x80                    ? 1
                  : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                  : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                  : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                  : 0;
  if (size == 0 || size > left) return 0;
  uint32_t value = size == 1 ? at[0] : at[0] & (0x7fu >> size);
  for (unsigned i = 1; i < size; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    value = value << 6 | (at[i] & 0x3fu);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return 0;
  *character = value;
  return size;
}

static bool is_unsafe(uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return true;
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void put_escape(struct buffer *out, char kind, uint32_t value, unsigned digits) {
  char text[6] = {'\\', kind};
  for (unsigned i = 0; i < digits; i++) text[2 + i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 15];
  put_bytes(out, text, 2 + digits);
}

void put_printable(struct buffer *out, const char *text, size_t length) {
  const uint8_t *bytes = (const uint8_t *)text;
  for (size_t at = 0; at < length;) {
    uint32_t c = 0;
    unsigned size = decode(bytes + at, length - at, &c);
    if (size == 0) put_escape(out, 'x', bytes[at], 2);
    else if (c == '\n' || c == '\r' || c == '\t') put_escape(out, c == '\n' ? 'n' : c == '\r' ? 'r' : 't', 0, 0);
    else if (is_unsafe(c)) put_escape(out, 'u', c, 4);
    else put_bytes(out, text + at, size);
    at += size == 0 ? 1 : size;
  }
}
