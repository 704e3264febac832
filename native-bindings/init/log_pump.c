#include "log_pump.h"

#include "log_counts.h"
#include "log_take.h"
#include "log_write.h"
#include "run.h"
#include "../shared/sys.h"

#define MILLISECOND 1000000ull
#define SECOND (1000 * MILLISECOND)
/* A prompt has no end of line: an unfinished line that is this old is written without one. */
#define FLUSH_AFTER (200 * MILLISECOND)
/* How often to try whether a full disk has room again. */
#define TELL_AFTER SECOND
/* How old the counts in the file may become. */
#define COUNTS_AFTER SECOND

enum { ROW_LIFE = LOG_STREAMS, ROW_COUNT };

struct timers {
  /* CLOCK_MONOTONIC in nanoseconds; 0 = not set. */
  uint64_t flush[LOG_STREAMS], tell, counts;
};

static bool has_part(const struct log_pump *pump, unsigned stream) {
  const struct log_stream *of = &log_now(pump->state)->streams[stream];
  return of->left < of->taken;
}

static void set(uint64_t *timer, bool is_wanted, uint64_t after) {
  if (!is_wanted) *timer = 0;
  else if (*timer == 0) *timer = trace_now() + after;
}

static bool rings(uint64_t *timer, uint64_t now) {
  bool is_due = *timer != 0 && *timer <= now;
  if (is_due) *timer = 0;
  return is_due;
}

static bool has_untold(const struct log_pump *pump) {
  const struct log_count *untold = &log_now(pump->state)->untold;
  return untold->lines > 0 || untold->bytes > 0;
}

static void serve_timers(struct log_pump *pump, struct timers *timers) {
  uint64_t now = trace_now();
  for (unsigned stream = 0; stream < LOG_STREAMS; stream++) {
    if (rings(&timers->flush[stream], now)) log_write(pump, stream, true);
    set(&timers->flush[stream], has_part(pump, stream), FLUSH_AFTER);
  }
  if (rings(&timers->tell, now)) log_tell(pump);
  set(&timers->tell, has_untold(pump), TELL_AFTER);
  if (rings(&timers->counts, now)) log_counts_put(pump);
  set(&timers->counts, log_counts_changed(pump), COUNTS_AFTER);
}

/* Wait until output comes or a timer is due. */
static int wait(struct pollfd *rows, const struct timers *timers) {
  uint64_t first = UINT64_MAX, now = trace_now();
  const uint64_t all[] = {timers->flush[LOG_STDOUT], timers->flush[LOG_STDERR], timers->tell, timers->counts};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] != 0 && all[i] < first) first = all[i];
  uint64_t most = first > now ? first - now : 0;
  const struct __kernel_timespec pause = {(long)(most / SECOND), (long)(most % SECOND)};
  return sys_poll(rows, ROW_COUNT, first == UINT64_MAX ? NULL : &pause);
}

static void serve_source(struct log_pump *pump, unsigned stream) {
  long size = log_take(pump, stream, LOG_RING);
  if (size == 0) pump->sources[stream] = -1;
  log_write(pump, stream, size == 0);
}

/* Somebody outside of the container may have the pipe and write on: what is in it now is the rest. */
static void drain(struct log_pump *pump, unsigned stream) {
  int left = 0;
  if (pump->sources[stream] >= 0) sys_ioctl(pump->sources[stream], FIONREAD, &left);
  while (left > 0) {
    long size = log_take(pump, stream, (uint64_t)left);
    log_write(pump, stream, false);
    if (size <= 0) break;
    left -= (int)size;
  }
  log_write(pump, stream, true);
}

static bool has_sources(const struct log_pump *pump) { return pump->sources[LOG_STDOUT] >= 0 || pump->sources[LOG_STDERR] >= 0; }

static void resume(struct log_pump *pump) {
  enum log_act act = log_now(pump->state)->act;
  if (act == LOG_TAKES) log_take_rest(pump);
  else if (act != LOG_IDLE) log_write_rest(pump);
  for (unsigned stream = 0; stream < LOG_STREAMS; stream++) log_write(pump, stream, false);
}

void log_pump(struct log_pump *pump) {
  struct timers timers = {0};
  POINT("before", "log-begin");
  log_counts_put(pump);
  if (pump->begun >= 0) sys_close(pump->begun);
  resume(pump);
  while (has_sources(pump)) {
    struct pollfd rows[ROW_COUNT];
    for (unsigned stream = 0; stream < LOG_STREAMS; stream++) rows[stream] = (struct pollfd){.fd = pump->sources[stream], .events = POLLIN};
    rows[ROW_LIFE] = (struct pollfd){.fd = pump->life, .events = POLLIN};
    serve_timers(pump, &timers);
    if (wait(rows, &timers) < 0) continue;
    if (rows[ROW_LIFE].revents != 0) {
      if (__atomic_load_n(&pump->state->is_ending, __ATOMIC_SEQ_CST)) break;
      // The monitor has ended, but the container runs on.
      pump->life = -1;
    }
    for (unsigned stream = 0; stream < LOG_STREAMS; stream++)
      if (rows[stream].revents != 0) serve_source(pump, stream);
  }
  for (unsigned stream = 0; stream < LOG_STREAMS; stream++) drain(pump, stream);
  log_tell(pump);
  log_counts_put(pump);
}
