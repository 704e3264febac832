#include "fresh.h"

#include "../shared/sys.h"

/* Attempts. If somebody makes the name again between every two calls, there will be no such file. */
#define ATTEMPTS 8

static int make(const char *path) { return sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600); }

int fresh_open(const char *path) {
  for (int i = 0; i < ATTEMPTS; i++) {
    int fd = make(path);
    if (fd != -EEXIST) return fd;
    // A directory is never removed here.
    long error = sys(__NR_unlinkat, AT_FDCWD, path, 0);
    if (error < 0 && error != -ENOENT) return (int)error;
  }
  return -EEXIST;
}

int fresh_beside(const char *path, struct buffer *name) {
  int fd = -EEXIST;
  for (int i = 0; i < ATTEMPTS && fd == -EEXIST; i++) {
    uint64_t unknown = (uint64_t)sys(__NR_getpid);
    if (i > 0 && sys(__NR_getrandom, &unknown, sizeof unknown, 0) != sizeof unknown) return -EIO;
    name->used = 0;
    put_text(name, path);
    put_text(name, ".");
    put_u64(name, unknown);
    if (name->truncated) return -ENAMETOOLONG;
    // A file of this name that is there stays: an earlier process with this pid has left it, or it is somebody else's.
    fd = make(name->at);
  }
  return fd;
}
