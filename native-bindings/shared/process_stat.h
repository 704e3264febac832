/* The line of proc_pid_stat(5): the state of a process, and when it was started. */
#ifndef RUNT_PROCESS_STAT_H
#define RUNT_PROCESS_STAT_H
#include <stdbool.h>
#include <stddef.h>

struct process_stat {
  char state;
  /* The same, or 'x': it is exiting, whatever it still waits for. */
  char waits_as;
  /* In clock ticks since boot, decimal, with a NUL behind it; inside the line. */
  const char *start_time;
  size_t start_time_length;
};

/* Of a line with a NUL behind it, which is written to. False: it is no such line. */
bool process_stat_parse(char *line, struct process_stat *out);
/* A zombie, too. */
bool process_is_dead(const struct process_stat *stat);
#endif
