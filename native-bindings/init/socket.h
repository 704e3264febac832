/* Messages with a descriptor (SCM_RIGHTS) on unix sockets; again after signals. */
#ifndef RUNT_SOCKET_H
#define RUNT_SOCKET_H
#include "../shared/kernel.h"

/* -1 = without a descriptor. `flags` beside MSG_NOSIGNAL. */
long socket_send(int socket, struct iovec *parts, unsigned count, int descriptor, unsigned flags);
/* Bytes received; *descriptor: the caller's, close-on-exec, -1 = there was none. */
long socket_receive(int socket, void *bytes, size_t size, int *descriptor);
#endif
