#include "log_file.h"

#include "../shared/str.h"
#include "../shared/sys.h"

#define FILE_TYPE 0170000
#define FILE_REGULAR 0100000

enum { FLOCK_EXCLUSIVE_NOW = 2 | 4 };

static void close_file(struct log_file *file) {
  if (file->fd >= 0) sys_close(file->fd);
  file->fd = -1;
}

/* The file belongs to this user and has one name: in a directory that others may write to, a link could lead to another file. */
static bool is_log(const struct stat *file) {
  return (file->st_mode & FILE_TYPE) == FILE_REGULAR && file->st_nlink == 1 && file->st_uid == (unsigned)sys(__NR_geteuid);
}

/* A FIFO without a reader does not hold it up, and a link is not followed. */
static long open_file(struct log_file *file, struct stat *found) {
  file->fd = sys_openat(AT_FDCWD, file->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0640);
  if (file->fd < 0) return file->fd;
  long error = sys_fstat(file->fd, found);
  if (error >= 0 && !is_log(found)) error = -EEXIST;
  // Of two pumps with one file, the second would write over what the first one has.
  if (error >= 0) error = sys(__NR_flock, file->fd, FLOCK_EXCLUSIVE_NOW);
  if (error < 0) close_file(file);
  return error;
}

/* PATH, or PATH.NUMBER. */
static bool name_of(const struct log_file *file, uint64_t number, struct buffer *out) {
  out->used = 0;
  put_text(out, file->path);
  if (number > 0) {
    put_text(out, ".");
    put_u64(out, number);
  }
  return !out->truncated;
}

/* The names up to the first that is free move by one: after a pump that was killed while it did this, the next one goes on where it was. */
static long rotate(struct log_file *file) {
  char from_path[PATH_MAX], to_path[PATH_MAX];
  struct buffer from = BUFFER(from_path), to = BUFFER(to_path);
  uint64_t oldest = file->count_max - 1, last = 0;
  close_file(file);
  if (oldest == 0) return sys(__NR_unlinkat, AT_FDCWD, file->path, 0);
  for (struct stat ignored; last < oldest; last++) {
    if (!name_of(file, last + 1, &to)) return -ENAMETOOLONG;
    if (sys(__NR_newfstatat, AT_FDCWD, to_path, &ignored, AT_SYMLINK_NOFOLLOW) == -ENOENT) break;
  }
  for (uint64_t number = last == oldest ? oldest - 1 : last; number != UINT64_MAX; number--) {
    if (!name_of(file, number, &from) || !name_of(file, number + 1, &to)) return -ENAMETOOLONG;
    long error = sys(__NR_renameat2, AT_FDCWD, from_path, AT_FDCWD, to_path, 0);
    POINT("after", "log-rename");
    if (error < 0 && error != -ENOENT) return error;
  }
  return 0;
}

static void take_size(struct log_state *state, uint64_t size) {
  log_change(state)->file_size = size;
  log_commit(state);
}

/* Open, and the size is known. */
static long open_current(struct log_file *file, struct log_state *state, bool is_again) {
  struct stat named, held;
  bool is_held = file->fd >= 0 && sys_fstat(file->fd, &held) >= 0 &&
                 sys(__NR_newfstatat, AT_FDCWD, file->path, &named, AT_SYMLINK_NOFOLLOW) >= 0 && named.st_ino == held.st_ino &&
                 named.st_dev == held.st_dev;
  if (!is_held) {
    close_file(file);
    long error = open_file(file, &held);
    if (error < 0) return error;
  }
  uint64_t size = (uint64_t)held.st_size, known = log_now(state)->file_size;
  if (size < known || (size > known && !is_again)) take_size(state, size);
  return 0;
}

long log_file_ready(struct log_file *file, struct log_state *state, uint64_t length, bool is_again) {
  long error = open_current(file, state, is_again);
  uint64_t size = log_now(state)->file_size;
  if (error < 0 || size == 0 || size + length <= file->size_max) return error;
  error = rotate(file);
  if (error < 0) return error;
  take_size(state, 0);
  return open_current(file, state, false);
}

long log_file_write(struct log_file *file, const struct log_state *state, const char *bytes, uint64_t length) {
  uint64_t begin = log_now(state)->file_size;
  for (uint64_t done = 0; done < length;) {
    long size = sys(__NR_pwrite64, file->fd, bytes + done, length - done, begin + done);
    POINT("after", "log-pwrite");
    if (size > 0) done += (uint64_t)size;
    else if (size != -EINTR) {
      sys(__NR_ftruncate, file->fd, begin);
      return size == 0 ? -ENOSPC : size;
    }
  }
  return 0;
}
