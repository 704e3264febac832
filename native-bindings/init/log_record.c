#include "log_record.h"

#include "run.h"

#define DAY_SECONDS 86400
#define DAYS_OF_400_YEARS 146097
#define DAYS_OF_100_YEARS 36524
#define DAYS_OF_4_YEARS 1461
/* From March 1 of the year 0 to January 1 of 1970. */
#define DAYS_BEFORE_EPOCH 719468

static const char STREAM_NAMES[LOG_STREAMS][7] = {"stdout", "stderr"};

static void put_padded(struct buffer *out, uint64_t value, unsigned digits) {
  char text[9];
  for (unsigned i = digits; i > 0; i--, value /= 10) text[i - 1] = (char)('0' + value % 10);
  put_bytes(out, text, digits);
}

/* Years begin with March here: a leap day is the last day of one, and of 4, 100 and 400 years. */
static void put_date(struct buffer *out, uint64_t days) {
  static const uint16_t month_begins[] = {0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337};
  days += DAYS_BEFORE_EPOCH;
  uint64_t year = days / DAYS_OF_400_YEARS * 400, day = days % DAYS_OF_400_YEARS;
  uint64_t centuries = day / DAYS_OF_100_YEARS < 3 ? day / DAYS_OF_100_YEARS : 3;
  day -= centuries * DAYS_OF_100_YEARS;
  uint64_t fours = day / DAYS_OF_4_YEARS;
  day -= fours * DAYS_OF_4_YEARS;
  uint64_t single = day / 365 < 3 ? day / 365 : 3, month = 11;
  day -= single * 365;
  year += centuries * 100 + fours * 4 + single;
  while (month_begins[month] > day) month--;
  put_padded(out, year + (month >= 10), 4);
  put_text(out, "-");
  put_padded(out, month < 10 ? month + 3 : month - 9, 2);
  put_text(out, "-");
  put_padded(out, day - month_begins[month] + 1, 2);
}

/* RFC 3339, UTC. */
static void put_time(struct buffer *out, int64_t seconds, int64_t nanoseconds) {
  // A clock that stands before 1970 was not set.
  uint64_t time = seconds < 0 ? 0 : (uint64_t)seconds, second = time % DAY_SECONDS;
  put_date(out, time / DAY_SECONDS);
  put_text(out, "T");
  put_padded(out, second / 3600, 2);
  put_text(out, ":");
  put_padded(out, second / 60 % 60, 2);
  put_text(out, ":");
  put_padded(out, second % 60, 2);
  put_text(out, ".");
  put_padded(out, (uint64_t)nanoseconds, 9);
  put_text(out, "Z ");
}

static char byte_at(const struct log_state *state, unsigned stream, uint64_t at) { return state->rings[stream][at % LOG_RING]; }

/* The place behind the line that begins at `at`, or `end` where none ends. */
static uint64_t line_end(const struct log_state *state, unsigned stream, uint64_t at, uint64_t end, bool *is_line) {
  while (at < end)
    if (byte_at(state, stream, at++) == '\n') {
      *is_line = true;
      return at;
    }
  *is_line = false;
  return end;
}

static void put_ring(struct buffer *out, const struct log_state *state, unsigned stream, uint64_t at, uint64_t length) {
  uint64_t start = at % LOG_RING, first = length < LOG_RING - start ? length : LOG_RING - start;
  put_bytes(out, state->rings[stream] + start, first);
  put_bytes(out, state->rings[stream], length - first);
}

void log_records(const struct log_state *state, unsigned stream, bool flushes, struct log_records *out) {
  const struct log_stream *of = &log_now(state)->streams[stream];
  for (uint64_t at = of->left, end; at < of->taken; at = end) {
    bool is_line;
    end = line_end(state, stream, at, of->taken, &is_line);
    if (!is_line && !flushes && end - at < LOG_RING) break;
    uint64_t length = end - at - is_line;
    if (out->text.used + LOG_RECORD_HEAD + length + 1 >= out->text.size) break;
    put_time(&out->text, of->seconds, of->nanoseconds);
    put_text(&out->text, STREAM_NAMES[stream]);
    put_text(&out->text, is_line ? " F " : " P ");
    put_ring(&out->text, state, stream, at, length);
    put_text(&out->text, "\n");
    out->used += end - at;
    out->held.lines += is_line;
    out->held.bytes += end - at;
    out->is_part = !is_line;
  }
}

uint64_t log_rest(const struct log_state *state, unsigned stream, bool *ends) {
  const struct log_stream *of = &log_now(state)->streams[stream];
  return line_end(state, stream, of->left, of->taken, ends) - of->left;
}

void log_dropped(const struct log_position *position, struct buffer *out) {
  put_time(out, position->seconds, position->nanoseconds);
  put_text(out, "runt F dropped: ");
  put_u64(out, position->untold.lines);
  put_text(out, position->untold.lines == 1 ? " line, " : " lines, ");
  put_u64(out, position->untold.bytes);
  put_text(out, " bytes: ");
  put_error(out, position->reason);
  put_text(out, "\n");
}
