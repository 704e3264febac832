#ifndef RUNT_HOST_LISTENER_H
#define RUNT_HOST_LISTENER_H
#include <sys/types.h>

/* One message with a descriptor (-1 = none); sendmsg(2)'s result. */
struct iovec;
ssize_t host_send_with(int socket, struct iovec *part, int descriptor);

#endif
