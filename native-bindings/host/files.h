#ifndef RUNT_HOST_FILES_H
#define RUNT_HOST_FILES_H
#include "function.h"

/* openat(2) with O_CLOEXEC, again after EINTR. */
int host_open_retry(int directory, const char *path, int flags, mode_t mode);
/* Closes it, unless it is negative; errno stays as it is. Returns -1. */
int host_discard(int fd);
/* Write everything; -1 and errno on failure. */
int host_write_all(int fd, const uint8_t *data, size_t length);
/* A regular file of at most 64 MiB, with a NUL behind it; free with js_free. False: an exception is pending. */
bool host_read_whole(JSContext *ctx, int directory, const char *path, uint8_t **data, size_t *length);
/* What one read(2) gives of a file of the kernel's, at most `size` bytes; -1 and errno, *call is what failed. */
ssize_t host_read_once(const char *path, void *buffer, size_t size, const char **call);

#endif
