/*
 * How far a log pump has come, in memory that it shares with the monitor and with the next pump: one that is killed at any instruction loses nothing,
 * and writes nothing twice. There are two positions, and one word says which of them holds; whatever is begun stands in it, and can be ended by
 * another pump.
 */
#ifndef RUNT_LOG_POSITION_H
#define RUNT_LOG_POSITION_H
#include "../testing/points.h"
#include "../shared/kernel.h"

/* A longer line becomes several records. */
#define LOG_RING 16384u

enum { LOG_STDOUT, LOG_STDERR, LOG_STREAMS };

enum log_act {
  LOG_IDLE,
  /* Bytes go from the container's pipe through the pump's own into the ring. */
  LOG_TAKES,
  /* What stands at the beginning of the ring goes into the file. */
  LOG_WRITES,
  /* How much was dropped goes into the file. */
  LOG_TELLS,
};

struct log_stream {
  /* Bytes that have come into the ring, and that have left it. */
  uint64_t taken, left;
  /* CLOCK_REALTIME when the last ones came. */
  int64_t seconds, nanoseconds;
  /* The beginning of a line was dropped, and the rest of it is. */
  bool drops;
};

struct log_count {
  uint64_t lines, bytes;
};

struct log_position {
  struct log_stream streams[LOG_STREAMS];
  /* Begun and perhaps not ended. */
  enum log_act act;
  unsigned stream;
  /* LOG_TAKES: bytes in the pump's own pipe; 0 = not known, and none has been read from it. */
  uint64_t moved;
  /* LOG_WRITES: a line without an end goes, too. */
  bool flushes;
  /* LOG_TELLS: when. */
  int64_t seconds, nanoseconds;
  /* The file is right up to here. */
  uint64_t file_size;
  struct log_count written, dropped;
  /* Of the dropped ones: those that the file does not tell yet, and why they were. */
  struct log_count untold;
  int32_t reason;
};

struct log_state {
  uint32_t current;
  /* The container has ended: what is there is the rest. */
  uint32_t is_ending;
  struct log_position positions[2];
  char rings[LOG_STREAMS][LOG_RING];
};

static inline const struct log_position *log_now(const struct log_state *state) { return &state->positions[state->current]; }

/* A copy to be changed; log_commit makes it hold. */
static inline struct log_position *log_change(struct log_state *state) {
  struct log_position *next = &state->positions[state->current ^ 1];
  *next = *log_now(state);
  return next;
}

static inline void log_commit(struct log_state *state) {
  POINT("before", "log-commit");
  __atomic_store_n(&state->current, state->current ^ 1, __ATOMIC_SEQ_CST);
  POINT("after", "log-commit");
}
#endif
