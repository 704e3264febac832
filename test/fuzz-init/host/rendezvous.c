/* Messages of the helper: whatever comes, every descriptor is either handed on or closed. */
#include <sys/socket.h>
#include <unistd.h>

#include "parsers.h"

#define recvmsg fake_recvmsg
#define close fake_close
#include "../../../native-bindings/host/sockets.c"
#include "../../../native-bindings/host/rendezvous.c"

#include <stdlib.h>

void parse_rendezvous(const uint8_t *data, size_t size) {
    struct received received;
    struct packet *packet = malloc(sizeof(*packet));
    if (!packet) abort();
    fake_datagrams(data, size);
    while (receive(0, packet, &received) == 1) {
        if (received.path + received.header.path_length > packet->data + PACKET_LIMIT) abort();
        if (received.text + received.header.text_length > packet->data + PACKET_LIMIT) abort();
        for (unsigned i = 0; i < packet->fd_count; i++) close(packet->fds[i]);
    }
    if (fake_open() != 0) abort();
    free(packet);
}
