#include "monitor_record.h"

#include "fresh.h"
#include "protocol/exit_record.h"
#include "../shared/sys.h"

#define RECORD_MAX 8192
#define FIELD(name) ",\"" name "\":"
#define SELF_FD "/proc/self/fd/"

bool record_take(struct record *record, const struct monitor_options *options) {
  *record = (struct record){
      .path = options->record,
      .text = options->record_text,
      .own = options->record_fd,
      .oom_path = options->oom,
      .oom_before = options->oom_before,
      .ready = options->ready,
      .kept = {options->stdout_reader, options->stderr_reader},
  };
  return record->path == NULL || (record->text != NULL && record->own >= 0);
}

/* The other end of a pipe, or the same one again. */
static int reopen(int fd, unsigned flags) {
  char path[sizeof SELF_FD + 12];
  struct buffer name = BUFFER(path);
  put_text(&name, SELF_FD);
  put_u64(&name, (uint64_t)fd);
  return sys_openat(AT_FDCWD, path, flags, 0);
}

static bool is_fifo(int fd, struct stat *out) { return sys_fstat(fd, out) >= 0 && (out->st_mode & 0170000) == 0010000; }

static void keep_outputs(struct record *record) {
  struct stat output, error;
  bool has_output = is_fifo(1, &output);
  // What the runtime could open is there already.
  if (has_output && record->kept[0] < 0) record->kept[0] = reopen(1, O_RDONLY | O_NONBLOCK);
  if (record->kept[1] >= 0 || !is_fifo(2, &error)) return;
  // stdout and stderr are the same pipe: one reading end is enough.
  if (has_output && output.st_ino == error.st_ino && output.st_dev == error.st_dev) return;
  record->kept[1] = reopen(2, O_RDONLY | O_NONBLOCK);
}

void record_begin(struct record *record, bool terminal) {
  if (record->path == NULL) return;
  keep_outputs(record);
  int null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
  for (int fd = terminal ? 2 : 0; fd <= 2 && null >= 0; fd++) sys(__NR_dup3, null, fd, 0);
  if (null >= 0) sys_close(null);
}

void record_ready(struct record *record) {
  if (record->path == NULL || record->ready < 0) return;
  sys_write(record->ready, "", 1);
  sys_close(record->ready);
  record->ready = -1;
}

/* The line `oom_kill N` of memory.oom_control (v1) or memory.events (v2). */
static uint64_t count_oom_kills(const struct record *record) {
  static const char name[] = "oom_kill ";
  char text[1024];
  if (record->oom_path == NULL) return 0;
  int fd = sys_openat(AT_FDCWD, record->oom_path, O_RDONLY, 0);
  if (fd < 0) return 0;
  long size = sys_read(fd, text, sizeof text - 1);
  sys_close(fd);
  text[size < 0 ? 0 : size] = 0;
  for (const char *line = text; line != NULL; line = text_find(line, '\n')) {
    if (*line == '\n') line++;
    if (!text_starts_with(line, name)) continue;
    uint64_t value = 0;
    for (line += sizeof name - 1; *line >= '0' && *line <= '9'; line++) value = value * 10 + (uint64_t)(*line - '0');
    return value < record->oom_before ? 0 : value - record->oom_before;
  }
  return 0;
}

/* Whether the file of this name is the one that this container's runt has written last: it is held open, so its inode cannot be another's. */
static bool is_own(const struct record *record, const char *path) {
  struct stat held, named;
  if (sys_fstat(record->own, &held) < 0 || sys(__NR_newfstatat, AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) < 0) return false;
  return held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

static long exchange(const char *a, const char *b) { return sys(__NR_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE_); }

/* True: the file is the record now. What is no longer the record of before is put back where it was: a caller that has removed the record, or
 * has given the name to another container, wants to hear no more of this one. */
static bool replace(const struct record *record, const char *new) {
  bool is_replaced = is_own(record, record->path);
  if (is_replaced) {
    long error = exchange(new, record->path);
    if (error == -EINVAL || error == -ENOSYS) return sys(__NR_renameat2, AT_FDCWD, new, AT_FDCWD, record->path, 0) >= 0;
    is_replaced = error >= 0 && is_own(record, new);
    if (error >= 0 && !is_replaced && exchange(new, record->path) < 0) return false;
  }
  sys(__NR_unlinkat, AT_FDCWD, new, 0);
  return is_replaced;
}

/* Beside it and by rename: a reader sees the record before or this one. */
static void publish(struct record *record, const char *phase) {
  char text[RECORD_MAX], path[PATH_MAX];
  struct buffer out = BUFFER(text), name = BUFFER(path);
  int status = record->wait_status;
  bool is_signal = status >= 0 && (status & 0x7f) != 0;
  put_text(&out, record->text);
  put_text(&out, FIELD(EXIT_FIELD_PHASE) "\"");
  put_text(&out, phase);
  put_text(&out, "\"" FIELD(EXIT_FIELD_CODE));
  if (status < 0) put_text(&out, "null");
  else put_i64(&out, is_signal ? 128 + (status & 0x7f) : status >> 8 & 0xff);
  put_text(&out, FIELD(EXIT_FIELD_SIGNAL));
  if (is_signal) put_i64(&out, status & 0x7f);
  else put_text(&out, "null");
  put_text(&out, FIELD(EXIT_FIELD_OOM_KILLS));
  put_u64(&out, record->oom_kills);
  put_text(&out, FIELD(EXIT_FIELD_ENDED_MS));
  put_u64(&out, record->ended_ms);
  put_text(&out, "}\n");
  if (out.truncated) return;
  int fd = fresh_beside(record->path, &name);
  if (fd < 0) return;
  bool is_written = sys_write(fd, text, out.used) == (long)out.used;
  if (!is_written) sys(__NR_unlinkat, AT_FDCWD, path, 0);
  if (!is_written || !replace(record, path)) {
    sys_close(fd);
    return;
  }
  sys_close(record->own);
  record->own = fd;
}

void record_ended(struct record *record, int wait_status) {
  if (record->path == NULL) return;
  struct __kernel_timespec now = {0};
  sys(__NR_clock_gettime, 0, &now);
  record->ended_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
  record->wait_status = wait_status;
  record->oom_kills = count_oom_kills(record);
  publish(record, EXIT_PHASE_ENDED);
}

/* With only a writing end of ours left, poll(2) reports an error when nobody reads. */
static bool has_reader(int writer) {
  struct pollfd row = {.fd = writer};
  const struct __kernel_timespec at_once = {0};
  sys_poll(&row, 1, &at_once);
  return (row.revents & POLLERR) == 0;
}

/* The default of fs.pipe-max-size. */
#define PIPE_MOST (1l << 20)

/* Bytes that are in a pipe now. Another process may have its other end and fill it without a pause: what comes later is not of the container. */
static long in_pipe(int reader) {
  int size = 0;
  return sys_ioctl(reader, FIONREAD, &size) < 0 ? PIPE_MOST : size;
}

static void save(int reader, const char *record_path, int output) {
  char bytes[4096], path[PATH_MAX];
  struct buffer name = BUFFER(path);
  put_text(&name, record_path);
  put_text(&name, output == 1 ? ".stdout" : ".stderr");
  // The terminal still has output: it is written after what was in the pipe.
  struct stat mine;
  bool has_more = output == 1 && is_fifo(1, &mine);
  int file = has_more && !name.truncated ? fresh_open(path) : -1;
  for (long left = in_pipe(reader), size; left > 0; left -= size) {
    sys_again(size, __NR_read, reader, bytes, left < (long)sizeof bytes ? left : (long)sizeof bytes);
    if (size <= 0) break;
    if (file < 0 && !name.truncated) file = fresh_open(path);
    if (file < 0) continue;
    for (long done = 0, written = 1; done < size && written > 0; done += written)
      written = sys_write(file, bytes + done, (size_t)(size - done));
  }
  if (file < 0) return;
  if (has_more) sys(__NR_dup3, file, 1, 0);
  sys_close(file);
}

void record_settle(struct record *record) {
  for (int i = 0; i < 2; i++) {
    int kept = record->kept[i];
    if (kept < 0) continue;
    record->kept[i] = -1;
    int writer = reopen(kept, O_WRONLY | O_NONBLOCK);
    sys_close(kept);
    if (writer < 0) continue;
    if (!has_reader(writer)) {
      int reader = reopen(writer, O_RDONLY | O_NONBLOCK);
      sys_close(writer);
      if (reader < 0) continue;
      save(reader, record->path, i + 1);
      sys_close(reader);
    } else {
      sys_close(writer);
    }
  }
}

void record_exited(struct record *record) {
  if (record->path != NULL) publish(record, EXIT_PHASE_EXITED);
}
