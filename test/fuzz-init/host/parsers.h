/* The parsers of the host module that read what a container can write, and what says which containers there are: each takes the bytes of one case. */
#ifndef FUZZ_PARSERS_H
#define FUZZ_PARSERS_H
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

void parse_rendezvous(const uint8_t *data, size_t size);
void parse_process_stat(const uint8_t *data, size_t size);
void parse_record(const uint8_t *data, size_t size);
void parse_utf8(const uint8_t *data, size_t size);

/* In the place of recvmsg(2) and close(2). A datagram is u8 descriptors, u16 length, bytes. */
ssize_t fake_recvmsg(int fd, struct msghdr *message, int flags);
int fake_close(int fd);
/* What fake_recvmsg hands out from here on. */
void fake_datagrams(const uint8_t *data, size_t size);
/* Descriptors that were handed out and not closed. */
int fake_open(void);
#endif
