/* A program that runs beside this one: its input is written and its output is read until it ends. */
#ifndef RUNT_CHILD_H
#define RUNT_CHILD_H
#include <stddef.h>
#include <stdint.h>

#define CHILD_STDIO 3
#define CHILD_PARTS 3

struct child_part {
  const char *at;
  size_t length;
};

struct child_output {
  int fd;
  unsigned interruptions;
  /* Output that does not fit is read and dropped, so that the program never blocks. */
  char *text;
  size_t used, limit;
};

struct pollfd;
struct child {
  /*
   * Waits for descriptors, for so many nanoseconds or, with a negative number, for ever. Returns how many are ready, or a negative errno:
   * -EINTR if the program is to be killed, another one if the host cannot wait for more than one descriptor.
   */
  int (*poll)(struct pollfd *fds, unsigned count, int64_t nanoseconds);
  /* The monotonic clock, in nanoseconds. */
  int64_t (*now)(void);
  int pid;
  /* -1: the kernel or a filter refuses pidfd_open(2). */
  int pidfd;
  /* Our ends of its pipes, -1: closed. */
  int input;
  struct child_part parts[CHILD_PARTS];
  struct child_output output[2];
};

enum child_end { CHILD_ENDED, CHILD_TIMED_OUT, CHILD_INTERRUPTED };

/* Its pipes; `theirs` are the ends for its standard streams. On failure, which is a negative errno, nothing is open. */
long child_pipes(struct child *child, int theirs[CHILD_STDIO]);

/* In the child, before its execve: they become 0, 1 and 2. 0, or a negative errno. */
long child_place_stdio(const int stdio[CHILD_STDIO]);

/* Serves the pipes until the program itself ends: what it left running may hold them. After `timeout` nanoseconds, unless negative, it is killed. */
enum child_end child_serve(struct child *child, int64_t timeout, int *status);
void child_close(struct child *child);
#endif
