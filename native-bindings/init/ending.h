/* Waiting after the container's end: for a lock, a child, a reader of the output. Whoever sends TERM, INT, HUP or QUIT ends it. */
#ifndef RUNT_ENDING_H
#define RUNT_ENDING_H
#include "../shared/kernel.h"

struct ending {
  /* signalfd(2) of all signals. */
  int signals;
  /* CLOCK_MONOTONIC in nanoseconds when it was first waited; 0 = not yet. */
  uint64_t began;
};

/* Until `row` (fd -1 = nothing) is ready, a signal arrives, or `most` nanoseconds are over (0 = no bound). False: a signal says to wait no more. */
bool ending_wait(struct ending *ending, struct pollfd row, uint64_t most);
/* Nanoseconds since it was first waited. */
uint64_t ending_waited(const struct ending *ending);
#endif
