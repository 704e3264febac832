/* A deadline that outlives the process that has set it: lines MILLISECONDS from a FIFO, each counted from when it is read. */
#ifndef RUNT_MONITOR_DEADLINE_H
#define RUNT_MONITOR_DEADLINE_H
#include <stdbool.h>
#include <stdint.h>

struct deadline {
  /* The FIFO, or -1. */
  int fd;
  /* CLOCK_MONOTONIC in nanoseconds; 0 = none. */
  uint64_t at;
  /* A line that has come in part. */
  uint64_t number;
  unsigned digits;
  bool is_bad;
};

/* Whole lines that are in the FIFO now: the last one counts, and 0 is none. Any other line is passed over. */
void deadline_take(struct deadline *deadline);
/* Nanoseconds that are left; UINT64_MAX = there is none. */
uint64_t deadline_left(const struct deadline *deadline);
#endif
