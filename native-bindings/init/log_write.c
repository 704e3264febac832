#include "log_write.h"

#include "log_record.h"
#include "../shared/sys.h"

/* The record that tells what was dropped. */
#define TELL_MAX 256

static char the_text[LOG_RECORDS_MAX];

/* Into the file, or, with an error, counted as dropped. */
static void leave(struct log_state *state, const struct log_records *records, long error) {
  struct log_position *next = log_change(state);
  struct log_stream *stream = &next->streams[next->stream];
  struct log_count *to = error < 0 ? &next->dropped : &next->written;
  stream->left += records->used;
  to->lines += records->held.lines;
  to->bytes += records->held.bytes;
  if (error < 0) {
    // Without its beginning the rest of the line would look like a whole line.
    stream->drops = records->is_part;
    next->untold.lines += records->held.lines;
    next->untold.bytes += records->held.bytes;
    next->reason = (int32_t)error;
  } else {
    next->file_size += records->text.used;
  }
  next->act = LOG_IDLE;
  log_commit(state);
}

static void drop_rest(struct log_state *state, unsigned stream) {
  bool ends;
  uint64_t size = log_rest(state, stream, &ends);
  struct log_position *next = log_change(state);
  next->streams[stream].left += size;
  next->streams[stream].drops = !ends;
  next->dropped.bytes += size;
  next->untold.bytes += size;
  next->dropped.lines += ends;
  next->untold.lines += ends;
  log_commit(state);
}

static void begin(struct log_state *state, unsigned stream, bool flushes) {
  struct log_position *next = log_change(state);
  next->act = LOG_WRITES;
  next->stream = stream;
  next->flushes = flushes;
  log_commit(state);
}

static bool has_untold(const struct log_state *state) {
  const struct log_count *untold = &log_now(state)->untold;
  return untold->lines > 0 || untold->bytes > 0;
}

void log_write(struct log_pump *pump, unsigned stream, bool flushes) {
  struct log_state *state = pump->state;
  for (;;) {
    const struct log_stream *of = &log_now(state)->streams[stream];
    if (of->drops && of->left < of->taken) drop_rest(state, stream);
    struct log_records records = {.text = BUFFER(the_text)};
    log_records(state, stream, flushes, &records);
    if (records.used == 0) return;
    if (has_untold(state)) log_tell(pump);
    long error = has_untold(state) ? log_now(state)->reason : log_file_ready(&pump->file, state, records.text.used, false);
    begin(state, stream, flushes);
    if (error == 0) error = log_file_write(&pump->file, state, the_text, records.text.used);
    leave(state, &records, error);
  }
}

/* Ends the write that the position describes: the same bytes at the same place, whether some of them are there or not. */
static void tell(struct log_pump *pump) {
  char text[TELL_MAX];
  struct buffer out = BUFFER(text);
  struct log_state *state = pump->state;
  log_dropped(log_now(state), &out);
  long error = log_file_ready(&pump->file, state, 0, true);
  if (error == 0) error = log_file_write(&pump->file, state, text, out.used);
  struct log_position *next = log_change(state);
  next->act = LOG_IDLE;
  if (error < 0) next->reason = (int32_t)error;
  else {
    next->file_size += out.used;
    next->untold = (struct log_count){0};
  }
  log_commit(state);
}

void log_tell(struct log_pump *pump) {
  struct log_state *state = pump->state;
  if (!has_untold(state)) return;
  struct __kernel_timespec now = {0};
  sys(__NR_clock_gettime, 0, &now);
  if (log_file_ready(&pump->file, state, TELL_MAX, false) < 0) return;
  struct log_position *next = log_change(state);
  next->act = LOG_TELLS;
  next->seconds = now.tv_sec;
  next->nanoseconds = now.tv_nsec;
  log_commit(state);
  tell(pump);
}

void log_write_rest(struct log_pump *pump) {
  struct log_state *state = pump->state;
  if (log_now(state)->act == LOG_TELLS) return tell(pump);
  struct log_records records = {.text = BUFFER(the_text)};
  log_records(state, log_now(state)->stream, log_now(state)->flushes, &records);
  long error = log_file_ready(&pump->file, state, 0, true);
  if (error == 0) error = log_file_write(&pump->file, state, the_text, records.text.used);
  leave(state, &records, error);
}
