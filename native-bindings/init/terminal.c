#include "terminal.h"

#include "sys.h"

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

static void write_out(struct terminal *terminal) {
  if (is_empty(&terminal->out)) return;
  long size = terminal->output_gone ? -EPIPE : drain(&terminal->out, 1);
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

void terminal_finish(struct terminal *terminal) {
  if (terminal->master < 0) return;
  do {
    while (!is_empty(&terminal->out)) {
      struct pollfd row = {.fd = 1, .events = POLLOUT};
      if (!terminal->output_gone) sys_poll(&row, 1, NULL);
      write_out(terminal);
    }
  } while (fill(&terminal->out, terminal->master) > 0);
  if (terminal->host >= 0) sys_ioctl(terminal->host, TCSETS, &terminal->saved);
}
