#ifndef RUNT_HOST_SOCKETS_H
#define RUNT_HOST_SOCKETS_H
#include "function.h"

#define PACKET_LIMIT ((size_t)64 << 10)
#define PACKET_DESCRIPTORS 16
/* One message, and the descriptors that came with it, close-on-exec. */
struct packet {
    int fds[PACKET_DESCRIPTORS];
    unsigned fd_count;
    bool is_whole; /* false: more was sent than there is room for */
    uint8_t data[PACKET_LIMIT];
};
/* recvmsg(2), which goes on after signals. */
ssize_t host_receive_packet(int socket, struct packet *out);
/* One message with a descriptor (-1 = none); sendmsg(2)'s result. */
ssize_t host_send_packet(int socket, const void *data, size_t length, int descriptor);

#endif
