#ifndef RUNT_HOST_OUTPUT_H
#define RUNT_HOST_OUTPUT_H
#include <stddef.h>
#include <stdint.h>

/* Write everything; -1 and errno on failure. */
int host_write_all(int fd, const uint8_t *data, size_t length);
/* The same to whoever has called this program. -1 with EINTR: nobody reads, and this program has been told to end. */
int host_write_to_caller(int fd, const uint8_t *data, size_t length);
/* open(2), write all and close(2), of a file that may be a FIFO, while signals are blocked. As above. */
int host_append(const char *path, int flags, int mode, const uint8_t *data, size_t length);

#endif
