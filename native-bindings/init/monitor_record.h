/* The exit record of a container that nobody waits for (docs/decisions/0029-exit-record.md). */
#ifndef RUNT_MONITOR_RECORD_H
#define RUNT_MONITOR_RECORD_H
#include "../shared/kernel.h"
#include "monitor_options.h"

struct record {
  /* NULL = no record was asked for: every function here then returns at once. */
  const char *path;
  /* The record as the runtime has begun it: JSON without its closing brace. */
  const char *text;
  /* The file that was written last, held open: its name may belong to another file by now. */
  int own;
  /* The file with the line `oom_kill N`, or NULL; its number before the container. */
  const char *oom_path;
  uint64_t oom_before;
  /* Gets one byte when everything is in place; -1 = none. */
  int ready;
  /* Reading ends of the container's stdout and stderr where those are FIFOs, so that it can go on writing without a reader; else -1. */
  int kept[2];
  int wait_status;
  uint64_t oom_kills, ended_ms;
};

/* False: malformed. */
bool record_take(struct record *record, const struct monitor_options *options);
/* Lets go of the caller's stdio, but for what a terminal is copied from and to. */
void record_begin(struct record *record, bool terminal);
/* Tells the runtime's caller that the container runs. From here on no output is lost if the monitor is killed. */
void record_ready(struct record *record);
/* Records the end of init; -1 = its status is unknown. Called before anything is removed. */
void record_ended(struct record *record, int wait_status);
/* Output that is unread, on a pipe without a reader, goes into FILE.stdout and FILE.stderr. May be called twice. */
void record_settle(struct record *record);
/* Records that nothing of the container is left. */
void record_exited(struct record *record);
#endif
