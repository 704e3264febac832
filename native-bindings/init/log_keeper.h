/*
 * The monitor's side of the log pump. The monitor holds whatever a pump needs (the container's pipes, the bytes on their way, how far it has come), and
 * starts another one when one is gone: nothing is lost with it.
 */
#ifndef RUNT_LOG_KEEPER_H
#define RUNT_LOG_KEEPER_H
#include "ending.h"
#include "log_pump.h"
#include "monitor_options.h"
#include "monitor_record.h"

struct log_keeper {
  /* NULL = the container has no log, and nothing here does anything. */
  const char *path;
  uint64_t size_max, count_max;
  struct log_state *state;
  int queue[2], counts;
  /* Reading and writing end: the pump sees its end when the monitor is gone. */
  int life[2];
  /* Of the pump; -1 = there is none. */
  int pid;
  /* CLOCK_MONOTONIC in nanoseconds when it was started. */
  uint64_t began;
  /* It has ended by itself: there is no more output. */
  bool is_done;
  bool was_started;
  /* Of a pipe whose writing ends are closed when the first pump has begun; -1 = it has, or there is none. */
  int begun;
};

/* After record_begin, whose reading ends it takes. 0, or a negative errno. */
long log_keeper_begin(struct log_keeper *keeper, const struct monitor_options *options, const struct record *record);
/* The first pump. When it returns, the pump has told who it is, and goes on without the monitor; or it hangs, and is not waited for any longer. */
void log_keeper_start(struct log_keeper *keeper, const struct record *record);
/* A child of the monitor has ended. */
void log_keeper_reap(struct log_keeper *keeper, int pid, int wait_status);
/* Starts a pump where there should be one. True: there is none, and it has to be tried again in a while. */
bool log_keeper_serve(struct log_keeper *keeper, const struct record *record);
/* No process of the container prints any more. What it has printed is in the log when log_keeper_is_over. */
void log_keeper_end(struct log_keeper *keeper);
bool log_keeper_is_over(const struct log_keeper *keeper);
/* Nobody waits for it any more. */
void log_keeper_stop(struct log_keeper *keeper);
#endif
