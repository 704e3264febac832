/* The monitor's part of a trace: what it did, appended to the file that the runtime has written (src/runtime/trace). */
#ifndef RUNT_TRACE_H
#define RUNT_TRACE_H
#include "../shared/kernel.h"

struct monitor_trace {
  /* -1 = none. */
  int fd;
  uint64_t began, ended;
};

/* CLOCK_MONOTONIC in nanoseconds; 0 where nothing is traced. */
uint64_t monitor_time(const struct monitor_trace *trace);
/* Everything is done: the events go in front of the end of the file, which stays one JSON value. */
void monitor_append(const struct monitor_trace *trace);
#endif
