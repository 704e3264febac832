#include "log_counts.h"

#include "protocol/log.h"
#include "../shared/process_stat.h"
#include "../shared/str.h"
#include "../shared/sys.h"

#define FIELD(name) ",\"" name "\":"
/* Always as long: what was written before shows nowhere. */
#define COUNTS_SIZE 384

static struct log_count the_written, the_dropped;

static void put_self(struct buffer *out) {
  char line[1024];
  struct process_stat stat = {0};
  int fd = sys_openat(AT_FDCWD, "/proc/self/stat", O_RDONLY, 0);
  long size = fd < 0 ? 0 : sys_read(fd, line, sizeof line - 1);
  if (fd >= 0) sys_close(fd);
  line[size < 0 ? 0 : size] = 0;
  bool is_known = process_stat_parse(line, &stat);
  put_text(out, "{\"" LOG_FIELD_PID "\":");
  put_u64(out, (uint64_t)sys(__NR_getpid));
  put_text(out, FIELD(LOG_FIELD_START_TICKS) "\"");
  put_text(out, is_known ? stat.start_time : "0");
  put_text(out, "\"");
}

static void put_field(struct buffer *out, const char *name, uint64_t value) {
  put_text(out, name);
  put_u64(out, value);
}

void log_counts_put(struct log_pump *pump) {
  char text[COUNTS_SIZE];
  struct buffer out = BUFFER(text);
  if (pump->counts < 0) return;
  the_written = log_now(pump->state)->written;
  the_dropped = log_now(pump->state)->dropped;
  put_self(&out);
  put_field(&out, FIELD(LOG_FIELD_LINES), the_written.lines);
  put_field(&out, FIELD(LOG_FIELD_BYTES), the_written.bytes);
  put_field(&out, FIELD(LOG_FIELD_DROPPED_LINES), the_dropped.lines);
  put_field(&out, FIELD(LOG_FIELD_DROPPED_BYTES), the_dropped.bytes);
  put_text(&out, "}");
  memset(text + out.used, ' ', sizeof text - out.used);
  text[sizeof text - 1] = '\n';
  sys(__NR_pwrite64, pump->counts, text, sizeof text, 0);
}

bool log_counts_changed(const struct log_pump *pump) {
  const struct log_position *now = log_now(pump->state);
  return now->written.bytes != the_written.bytes || now->dropped.bytes != the_dropped.bytes;
}
