/* The file of a log pump. It is rotated by size, and a file that somebody else has put in its place is never written to. */
#ifndef RUNT_LOG_FILE_H
#define RUNT_LOG_FILE_H
#include "log_position.h"

struct log_file {
  const char *path;
  /* Bytes of one file, and how many there are: PATH, PATH.1 and so on, the oldest last. */
  uint64_t size_max, count_max;
  /* -1 = not open. */
  int fd;
};

/*
 * Makes the file ready for `length` bytes at the position's file_size, which is put right where somebody has cut or replaced the file. With
 * `is_again` bytes behind that place are a pump's that was killed while it wrote: they are written again. 0, or a negative errno.
 */
long log_file_ready(struct log_file *file, struct log_state *state, uint64_t length, bool is_again);
/* Writes all of it or nothing: after a short write the file is cut to its former length. 0, or a negative errno. */
long log_file_write(struct log_file *file, const struct log_state *state, const char *bytes, uint64_t length);
#endif
