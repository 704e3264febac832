/* The caller's terminal on one side, the master of the container's on the other. */
#ifndef RUNT_TERMINAL_H
#define RUNT_TERMINAL_H
#include "ending.h"

#define COPY_SIZE 4096

/* Bytes on their way from one descriptor to the other. */
struct copy {
  char bytes[COPY_SIZE];
  size_t start, end;
};

/* A line `ROWS COLUMNS` that has come in part. */
struct size_line {
  unsigned number[2];
  int at;
  bool is_bad, has_digit;
};

struct terminal {
  /* -1 = there is no terminal. */
  int master;
  /* The descriptor among stdio that is the caller's terminal, or -1. */
  int host;
  struct termios saved;
  struct copy in, out;
  bool input_ended, output_gone;
  /* stdout is a socket. */
  bool sends;
  /* No process has the container's side open at the moment: the master would report a hang-up all the time. */
  bool idle;
  /* A FIFO of the caller's, from which the sizes come when the caller has no terminal; or -1. */
  int sizes;
  struct size_line line;
};

void terminal_open(struct terminal *terminal, int master);
void terminal_resize(struct terminal *terminal);
/* Whole lines `ROWS COLUMNS`, two numbers from 1 to 65535, that are in the FIFO now: the last one counts. Any other line is passed over. */
void terminal_take_sizes(struct terminal *terminal);
/* What to poll for; rows with fd -1 are ignored by poll(2). Rows: stdin, stdout, master. */
void terminal_wants(struct terminal *terminal, struct pollfd rows[3]);
void terminal_serve(struct terminal *terminal, const struct pollfd rows[3]);
/* A write to stdout never waits from here on, without a change of what the caller shares. Nothing is done for a file. */
void terminal_own_output(struct terminal *terminal);
/* What the container still wrote, as far as the reader takes it at once. False: there may be more. */
bool terminal_flush(struct terminal *terminal);
/* stdout is closed: whoever reads it sees the end. */
void terminal_leave_output(struct terminal *terminal);
/* The caller's terminal as it was, and then the rest; waits for the reader. */
void terminal_finish(struct terminal *terminal, struct ending *ending);
#endif
