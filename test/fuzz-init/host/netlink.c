/* rtnetlink's answers: names of devices are a container's to choose, and other processes of its network namespace may write to the socket. */
#include <sys/socket.h>

#include "parsers.h"

#define recvmsg fake_recvmsg
#include "../../../native-bindings/host/netlink.c"

void *js_realloc(JSContext *ctx, void *at, size_t size) {
    (void)ctx;
    return realloc(at, size);
}

void parse_netlink(const uint8_t *data, size_t size) {
    struct reply reply = { 0 };
    uint8_t *buffer = malloc(RECEIVE_SIZE);
    if (!buffer) abort();
    fake_datagrams(data, size);
    /* Sequence 0 is what a mutator leaves alone. */
    if (receive(NULL, 0, 0, buffer, &reply) && memchr(reply.words, 0, sizeof(reply.words)) == NULL) abort();
    free(reply.data);
    free(buffer);
}
