#include "terminal.h"

#include "../shared/sys.h"

/* Chunks that are copied in one go: more than a terminal holds. Whoever writes on meanwhile does not keep the monitor from its other work. */
#define FLUSH_MOST 64

static void set_non_blocking(int fd) {
  long flags = sys(__NR_fcntl, fd, F_GETFL, 0);
  if (flags >= 0) sys(__NR_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
}

/* As cfmakeraw(3), but output stays processed: the caller's terminal makes CR LF of LF, the container's (console.open) does
 * not. So output that does not go to a terminal has no carriage returns. */
static void make_raw(struct termios *mode) {
  mode->c_iflag &= ~(unsigned)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
  mode->c_lflag &= ~(unsigned)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
  mode->c_cflag = (mode->c_cflag & ~(unsigned)(CSIZE | PARENB)) | CS8;
  mode->c_cc[VMIN] = 1;
  mode->c_cc[VTIME] = 0;
}

void terminal_open(struct terminal *terminal, int master) {
  terminal->master = master;
  terminal->host = -1;
  if (master < 0) return;
  set_non_blocking(master);
  for (int fd = 0; fd <= 2 && terminal->host < 0; fd++)
    if (sys_ioctl(fd, TCGETS, &terminal->saved) >= 0) terminal->host = fd;
  if (terminal->host < 0) return;
  struct termios raw = terminal->saved;
  make_raw(&raw);
  sys_ioctl(terminal->host, TCSETS, &raw);
  terminal_resize(terminal);
}

void terminal_resize(struct terminal *terminal) {
  struct window_size size;
  if (terminal->master < 0 || terminal->host < 0 || sys_ioctl(terminal->host, TIOCGWINSZ, &size) < 0) return;
  sys_ioctl(terminal->master, TIOCSWINSZ, &size);
}

static bool is_size(const struct size_line *line) {
  return !line->is_bad && line->at == 1 && line->has_digit && line->number[0] != 0 && line->number[1] != 0;
}

/* True at the end of a line that is a size. */
static bool take_character(struct size_line *line, char character, struct window_size *size) {
  if (character == '\n') {
    bool is_whole = is_size(line);
    if (is_whole) *size = (struct window_size){(uint16_t)line->number[0], (uint16_t)line->number[1], 0, 0};
    *line = (struct size_line){0};
    return is_whole;
  }
  unsigned *number = &line->number[line->at];
  if (character >= '0' && character <= '9') {
    *number = *number * 10 + (unsigned)(character - '0');
    line->has_digit = true;
    if (*number <= UINT16_MAX) return false;
  } else if (character == ' ' && line->at == 0 && line->has_digit) {
    line->at = 1;
    line->has_digit = false;
    return false;
  }
  line->is_bad = true;
  *number = 0;
  return false;
}

void terminal_take_sizes(struct terminal *terminal) {
  char bytes[256];
  struct window_size size;
  bool has_size = false;
  long count = sys_read(terminal->sizes, bytes, sizeof bytes);
  for (long i = 0; i < count; i++) has_size |= take_character(&terminal->line, bytes[i], &size);
  if (has_size) sys_ioctl(terminal->master, TIOCSWINSZ, &size);
}

void terminal_own_output(struct terminal *terminal) {
  static const char own[] = "/proc/self/fd/1";
  struct stat output;
  if (terminal->master < 0 || sys_fstat(1, &output) < 0) return;
  const unsigned type = output.st_mode & 0170000;
  terminal->sends = type == 0140000;
  if (type != 0010000 && type != 0020000) return;
  // The flag belongs to the open file, which the caller and others have too.
  int writer = sys_openat(AT_FDCWD, own, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (writer < 0) return;
  sys(__NR_dup3, writer, 1, 0);
  sys_close(writer);
}

static bool is_empty(const struct copy *copy) { return copy->start == copy->end; }

void terminal_wants(struct terminal *terminal, struct pollfd rows[3]) {
  for (int i = 0; i < 3; i++) rows[i] = (struct pollfd){.fd = -1};
  if (terminal->master < 0) return;
  if (is_empty(&terminal->in) && !terminal->input_ended) rows[0] = (struct pollfd){.fd = 0, .events = POLLIN};
  if (!is_empty(&terminal->out)) rows[1] = (struct pollfd){.fd = 1, .events = POLLOUT};
  short events = (short)((is_empty(&terminal->out) ? POLLIN : 0) | (is_empty(&terminal->in) ? 0 : POLLOUT));
  if (events != 0 && !terminal->idle) rows[2] = (struct pollfd){.fd = terminal->master, .events = events};
}

/* Bytes read; 0 at the end; negative errno. */
static long fill(struct copy *copy, int fd) {
  long size;
  do size = sys_read(fd, copy->bytes, sizeof copy->bytes);
  while (size == -EINTR);
  copy->start = 0;
  copy->end = size > 0 ? (size_t)size : 0;
  return size;
}

static long drain(struct copy *copy, int fd) {
  long size;
  do size = sys_write(fd, copy->bytes + copy->start, copy->end - copy->start);
  while (size == -EINTR);
  if (size > 0) copy->start += (size_t)size;
  return size;
}

/* Writes to a socket at stdout, without waiting. */
static long send_out(struct copy *copy) {
  long size;
  do size = sys(__NR_sendto, 1, copy->bytes + copy->start, copy->end - copy->start, MSG_DONTWAIT_ | MSG_NOSIGNAL_, NULL, 0);
  while (size == -EINTR);
  if (size > 0) copy->start += (size_t)size;
  return size;
}

static void write_out(struct terminal *terminal) {
  if (is_empty(&terminal->out)) return;
  long size = terminal->output_gone ? -EPIPE : terminal->sends ? send_out(&terminal->out) : drain(&terminal->out, 1);
  if (size >= 0 || size == -EAGAIN) return;
  // The reader is gone. The container must not stop at a full terminal for that: its output is dropped.
  terminal->output_gone = true;
  terminal->out.start = terminal->out.end;
}

static void read_master(struct terminal *terminal) {
  long size = fill(&terminal->out, terminal->master);
  if (size == 0 || size == -EIO) terminal->idle = true;
}

void terminal_serve(struct terminal *terminal, const struct pollfd rows[3]) {
  if (terminal->master < 0) return;
  terminal->idle = false;
  if (rows[1].revents != 0) write_out(terminal);
  if (is_empty(&terminal->out)) read_master(terminal);
  if (terminal->output_gone) write_out(terminal);
  if (rows[0].revents != 0 && fill(&terminal->in, 0) <= 0) terminal->input_ended = true;
  if (!is_empty(&terminal->in)) {
    long size = drain(&terminal->in, terminal->master);
    if (size < 0 && size != -EAGAIN) terminal->in.start = terminal->in.end;
  }
}

bool terminal_flush(struct terminal *terminal) {
  const struct __kernel_timespec at_once = {0};
  if (terminal->master < 0) return true;
  for (int i = 0; i < FLUSH_MOST; i++) {
    struct pollfd row = {.fd = 1, .events = POLLOUT};
    if (!is_empty(&terminal->out)) {
      if (!terminal->output_gone && sys_poll(&row, 1, &at_once) == 0) return false;
      write_out(terminal);
    } else if (fill(&terminal->out, terminal->master) <= 0) {
      return true;
    }
  }
  return false;
}

void terminal_leave_output(struct terminal *terminal) {
  terminal->output_gone = true;
  int null = sys_openat(AT_FDCWD, "/dev/null", O_WRONLY, 0);
  if (null < 0) return (void)sys_close(1);
  sys(__NR_dup3, null, 1, 0);
  sys_close(null);
}

void terminal_finish(struct terminal *terminal, struct ending *ending) {
  if (terminal->master < 0) return;
  // First, so that INT can come from there.
  if (terminal->host >= 0) sys_ioctl(terminal->host, TCSETS, &terminal->saved);
  while (!terminal_flush(terminal))
    if (!ending_wait(ending, (struct pollfd){.fd = terminal->output_gone ? -1 : 1, .events = POLLOUT}, terminal->output_gone ? 1 : 0))
      return;
}
