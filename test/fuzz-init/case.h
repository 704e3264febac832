/* One input of the fuzzer: what the helper is started with, and how the fake kernel answers it.
 *
 * Wire form: u8 mode, u8 closed (bits 0-2: descriptors of stdio that are closed; bit 3: a plan is traced), u32 length (little endian), that many bytes of the plan or of
 * the arguments (NUL after each), then rules to the end: u8 call, u8 skip, u8 action, u8 length, length bytes. */
#ifndef FUZZ_CASE_H
#define FUZZ_CASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CASE_HEADER 6
#define RULES_MAX 64
#define CASE_MAX (64 * 1024)

#define CASE_TRACED 8

enum mode { MODE_PLAN, MODE_MONITOR, MODE_NOTIFY, MODE_ARGUMENTS, MODE_COUNT };

/* What a rule says of the call after the `skip` next ones of its kind. */
enum action {
  /* Fails once with the errno in the first two bytes. */
  ACTION_ERRNO,
  /* Fails from then on: a call the kernel does not have, or a sandbox refuses. */
  ACTION_ALWAYS,
  /* A result of its own (a pid, a status, a short count): four bytes. */
  ACTION_VALUE,
  /* What the call hands out: bytes of a file, a message, names of a directory, a stat. */
  ACTION_DATA,
  /* The same, repeated until the caller's buffer is full. */
  ACTION_FILL,
  ACTION_COUNT,
};

struct rule {
  uint8_t call, skip, action, length;
  const uint8_t *data;
};

struct fuzz_case {
  uint8_t mode, closed;
  bool is_traced;
  const uint8_t *body;
  size_t body_size;
  struct rule rules[RULES_MAX];
  unsigned rule_count;
};

/* False if it is shorter than it says. Borrows the bytes. */
bool case_read(const uint8_t *data, size_t size, struct fuzz_case *out);

uint32_t case_load32(const uint8_t *at);
void case_store32(uint8_t *at, uint32_t value);
#endif
