/* Changing a case by its grammar. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "case.h"

/* A small generator of its own, seeded by libFuzzer for every mutation. */
uint32_t choose(uint32_t below);
void choose_from(uint32_t seed);
uint32_t interesting_number(void);
/* Writes a string that means something to the helper; returns its length. */
size_t interesting_text(uint8_t *to, size_t room);

/* A growing piece of memory with an end that nothing passes. */
struct bytes {
  uint8_t *at;
  size_t size, room;
};
bool bytes_insert(struct bytes *bytes, size_t at, const void *what, size_t size);
void bytes_remove(struct bytes *bytes, size_t at, size_t size);
bool bytes_put32(struct bytes *bytes, uint32_t value);

/* One change of a plan in its wire form (mutate_plan.c), of the rules in theirs (mutate_rules.c). */
void mutate_plan(struct bytes *plan);
void mutate_rules(struct bytes *rules);
#endif
