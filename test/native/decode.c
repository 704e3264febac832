// Feeds the plan decoder broken plans under the sanitizers: decode PLANFILE ROUNDS
// Every truncation must be refused; whatever else is flipped must at least be decoded without touching foreign memory.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plan.h"

int helper_main(int count, char **arguments, char **environment);

static long decode(const unsigned char *bytes, size_t size) {
  struct plan plan;
  struct operation operation;
  const char *reason;
  int fd = memfd_create("plan", MFD_CLOEXEC);
  if (fd < 0 || (size_t)write(fd, bytes, size) != size) abort();
  long result = plan_map(fd, &plan, &reason);
  if (result >= 0) {
    struct plan_cursor cursor = plan_begin(&plan);
    while (plan_next(&plan, &cursor, &operation)) continue;
    munmap((void *)((unsigned long)plan.at & ~4095ul), size);
  }
  close(fd);
  return result;
}

static void set_length(unsigned char *bytes, size_t size) {
  for (int i = 0; i < 4; i++) bytes[8 + i] = (unsigned char)(size >> 8 * i);
}

int helper_main(int count, char **arguments, char **environment) {
  static unsigned char whole[1 << 20], broken[1 << 20];
  (void)environment;
  FILE *in = count == 3 ? fopen(arguments[1], "r") : NULL;
  if (in == NULL) return 99;
  size_t size = fread(whole, 1, sizeof whole, in);
  long rounds = atol(arguments[2]);
  if (decode(whole, size) < 0) return 1;
  for (size_t length = 0; length < size; length++) {
    memcpy(broken, whole, length);
    if (decode(broken, length) >= 0) return 2;
    if (length < 12) continue;
    set_length(broken, length);
    if (decode(broken, length) >= 0) return 3;
  }
  srandom(1);
  for (long round = 0; round < rounds; round++) {
    memcpy(broken, whole, size);
    for (long flips = random() % 4; flips >= 0; flips--) {
      static const unsigned char interesting[] = {0, 1, 0x7f, 0x80, 0xff};
      size_t at = 12 + (size_t)random() % (size - 12);
      broken[at] = random() % 2 ? (unsigned char)random() : interesting[(size_t)random() % sizeof interesting];
      if (random() % 4 == 0 && at + 4 <= size) memset(broken + at, 0xff, 4);
    }
    decode(broken, size);
  }
  return 0;
}
