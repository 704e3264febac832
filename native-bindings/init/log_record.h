/* Records of a log file: "TIME STREAM F|P BYTES\n", F for the end of a line, P for a part of it that more of it follows (docs/decisions/0038-log-pump.md). */
#ifndef RUNT_LOG_RECORD_H
#define RUNT_LOG_RECORD_H
#include "../shared/str.h"
#include "log_position.h"

/* "2026-01-02T03:04:05.678901234Z stdout F " */
#define LOG_RECORD_HEAD 40u
/* One record of the longest line. */
#define LOG_RECORDS_MAX (LOG_RECORD_HEAD + LOG_RING + 2)

struct log_records {
  struct buffer text;
  /* Bytes of the ring that they take, of which some may be dropped. */
  uint64_t used;
  struct log_count held;
  /* The last record does not end its line. */
  bool is_part;
};

/* As many records of a stream as fit, from the beginning of its ring on. Without `flushes` no line that has not ended, unless it fills the ring. */
void log_records(const struct log_state *state, unsigned stream, bool flushes, struct log_records *out);
/* How many bytes at the beginning of the ring belong to a line whose beginning was dropped; they are dropped, too. `ends`: the line ends there. */
uint64_t log_rest(const struct log_state *state, unsigned stream, bool *ends);
/* The record that says how much was dropped. */
void log_dropped(const struct log_position *position, struct buffer *out);
#endif
