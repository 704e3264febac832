#include "log_take.h"

#include "../shared/sys.h"

enum { SPLICE_NONBLOCK = 2 };

static void put_idle(struct log_state *state) {
  log_change(state)->act = LOG_IDLE;
  log_commit(state);
}

static void begin(struct log_state *state, unsigned stream) {
  struct log_position *next = log_change(state);
  next->act = LOG_TAKES;
  next->stream = stream;
  next->moved = 0;
  log_commit(state);
}

static void end(struct log_state *state, uint64_t size) {
  struct __kernel_timespec now = {0};
  sys(__NR_clock_gettime, 0, &now);
  struct log_position *next = log_change(state);
  struct log_stream *stream = &next->streams[next->stream];
  stream->taken += size;
  stream->seconds = now.tv_sec;
  stream->nanoseconds = now.tv_nsec;
  next->act = LOG_IDLE;
  log_commit(state);
}

/* The free part of the ring from `at` on, in one piece or two. */
static int free_parts(struct log_state *state, unsigned stream, uint64_t at, uint64_t length, struct iovec parts[2]) {
  uint64_t start = at % LOG_RING, first = length < LOG_RING - start ? length : LOG_RING - start;
  parts[0] = (struct iovec){state->rings[stream] + start, first};
  parts[1] = (struct iovec){state->rings[stream], length - first};
  return length > first ? 2 : 1;
}

static uint64_t queued(const struct log_pump *pump) {
  int size = 0;
  sys_ioctl(pump->queue[0], FIONREAD, &size);
  return (uint64_t)size;
}

/* Nobody else writes into the queue, so what is missing in it has arrived in the ring. */
void log_take_rest(struct log_pump *pump) {
  struct log_state *state = pump->state;
  uint64_t left = queued(pump);
  if (log_now(state)->moved == 0) {
    if (left == 0) return put_idle(state);
    log_change(state)->moved = left;
    log_commit(state);
  }
  const struct log_position *now = log_now(state);
  for (uint64_t done = now->moved - left; done < now->moved;) {
    struct iovec parts[2];
    int count = free_parts(state, now->stream, now->streams[now->stream].taken + done, now->moved - done, parts);
    long size = sys(__NR_readv, pump->queue[0], parts, count);
    if (size == -EINTR) continue;
    // Its length was asked for: there is no way to this place.
    if (size <= 0) return end(state, done);
    done += (uint64_t)size;
    POINT("after", "log-read");
  }
  end(state, now->moved);
}

/* Where splice(2) is refused: what a pump that is killed just here has read is lost. */
static long read_directly(struct log_pump *pump, unsigned stream, uint64_t most) {
  struct iovec parts[2];
  int count = free_parts(pump->state, stream, log_now(pump->state)->streams[stream].taken, most, parts);
  long size = sys(__NR_readv, pump->sources[stream], parts, count);
  if (size > 0) end(pump->state, (uint64_t)size);
  else put_idle(pump->state);
  return size;
}

long log_take(struct log_pump *pump, unsigned stream, uint64_t most) {
  struct log_state *state = pump->state;
  const struct log_stream *of = &log_now(state)->streams[stream];
  uint64_t room = LOG_RING - (of->taken - of->left);
  if (room < most) most = room;
  if (most == 0) return -EAGAIN;
  begin(state, stream);
  long size = sys(__NR_splice, pump->sources[stream], NULL, pump->queue[1], NULL, most, SPLICE_NONBLOCK);
  POINT("after", "log-splice");
  if (size > 0) log_take_rest(pump);
  else if (size < 0 && size != -EAGAIN && size != -EINTR) return read_directly(pump, stream, most);
  else put_idle(state);
  return size == -EINTR ? -EAGAIN : size;
}
