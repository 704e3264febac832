#ifndef RUNT_HOST_FILES_H
#define RUNT_HOST_FILES_H
#include "function.h"

#include <fcntl.h>
#include <sys/stat.h>

/* openat(2) with O_CLOEXEC, again after EINTR. */
int host_open_retry(int directory, const char *path, int flags, mode_t mode);
/* Flags of open(2) for a file below a directory of runt's: no link is followed, and no FIFO or terminal is waited for or taken. */
#define HOST_OWN_FILE (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
/* Whether a file below a directory of runt's is the caller's or root's. */
bool host_is_own(const struct stat *status);
/* A regular file of at most 64 MiB, with a NUL behind it; free with js_free. `own`: below a directory of runt's. False: an exception is pending. */
bool host_read_whole(JSContext *ctx, int directory, const char *path, bool own, uint8_t **data, size_t *length);
/* What one read(2) gives of a file of the kernel's, at most `size` bytes; -1 and errno, *call is what failed. */
ssize_t host_read_once(const char *path, void *buffer, size_t size, const char **call);

#endif
