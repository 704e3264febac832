/* The log pump: a process beside a container that writes what it prints into a log file (docs/decisions/0038-log-pump.md). */
#ifndef RUNT_LOG_PUMP_H
#define RUNT_LOG_PUMP_H
#include "log_file.h"

struct log_pump {
  struct log_state *state;
  struct log_file file;
  /* Reading ends of the container's stdout and stderr; -1 = there is none. */
  int sources[LOG_STREAMS];
  /* A pipe that nobody else writes into: bytes that are on their way. It does not block, and outlives the pump. */
  int queue[2];
  /* Reaches its end when the monitor says that the container has ended, or when the monitor itself has ended. */
  int life;
  /* The file for the counts (log_counts.h); -1 = none. */
  int counts;
  /* The pump closes it after it has written the counts for the first time; -1 = nobody waits for that. */
  int begun;
};

/* Returns when the container has no output any more, and all of it is in the file. */
void log_pump(struct log_pump *pump);
#endif
