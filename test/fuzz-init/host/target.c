/* libFuzzer's entry for the parsers of the host module: the first byte says which. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parsers.h"

#define FIRST_DESCRIPTOR 100
/* The corpus was there before them. */
#define RECORDS 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    const uint8_t *at;
    size_t left;
    int open;
} datagrams;

void fake_datagrams(const uint8_t *data, size_t size) {
    datagrams.at = data;
    datagrams.left = size;
    datagrams.open = 0;
}

int fake_open(void) { return datagrams.open; }

int fake_close(int fd) {
    if (fd < FIRST_DESCRIPTOR || datagrams.open == 0) abort();
    datagrams.open--;
    return 0;
}

static void give_descriptors(struct msghdr *message, unsigned count) {
    const size_t room = message->msg_controllen > CMSG_LEN(0) ? (message->msg_controllen - CMSG_LEN(0)) / sizeof(int) : 0;
    if (count > room) message->msg_flags |= MSG_CTRUNC;
    if (count > room) count = (unsigned)room;
    message->msg_controllen = count == 0 ? 0 : CMSG_SPACE(count * sizeof(int));
    if (count == 0) return;
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    *part = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
    for (unsigned i = 0; i < count; i++) {
        int fd = FIRST_DESCRIPTOR + (int)i;
        memcpy(CMSG_DATA(part) + i * sizeof(int), &fd, sizeof(fd));
        datagrams.open++;
    }
}

ssize_t fake_recvmsg(int fd, struct msghdr *message, int flags) {
    (void)fd;
    (void)flags;
    if (datagrams.left < 3) {
        errno = ENOBUFS;
        return -1;
    }
    uint8_t count = datagrams.at[0];
    size_t length = datagrams.at[1] | (size_t)datagrams.at[2] << 8, room = message->msg_iov[0].iov_len;
    if (length > datagrams.left - 3) length = datagrams.left - 3;
    message->msg_flags = length > room ? MSG_TRUNC : 0;
    size_t given = length < room ? length : room;
    memcpy(message->msg_iov[0].iov_base, datagrams.at + 3, given);
    datagrams.at += 3 + length;
    datagrams.left -= 3 + length;
    give_descriptors(message, count % 32);
    return (ssize_t)given;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const parsers[])(const uint8_t *, size_t) = { parse_rendezvous, parse_process_stat, parse_utf8 };
    if (size > 0 && data[0] == RECORDS) parse_record(data + 1, size - 1);
    else if (size > 0) parsers[data[0] % 3](data + 1, size - 1);
    return 0;
}
