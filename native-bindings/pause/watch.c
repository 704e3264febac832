/*
 * runt-pause watch TABLE: tells of changes of the table TABLE of nftables, of the families ip and bridge, in this network namespace, until its standard input ends.
 *
 * It prints "generation N" when it listens, and for each byte of its standard input: the number of the kernel's present rule set, which each transaction on
 * any table increases. It prints "changed PID..." when the table was changed: by which netlink ports, which are the pids of the programs as a rule; 0: by
 * unknown ones. Source: the kernel's include/uapi/linux/netfilter/nf_tables.h, and net/netfilter/nf_tables_api.c.
 */
#define _GNU_SOURCE
#include "watch.h"

#include "attributes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* All messages about a part of a table have its name as this attribute: NFTA_TABLE_NAME, NFTA_CHAIN_TABLE, NFTA_RULE_TABLE, NFTA_SET_TABLE and so on. */
#define TABLE_ATTRIBUTE 1
/* The process prints one line for all changes within this time. A program that changes the table all the time then costs little. */
#define TOGETHER_MS 20
/* The kernel drops messages that do not fit into this queue. The process then prints that an unknown program has changed the table. */
#define QUEUE_BYTES (1 << 20)
#define MOST_AT_ONCE 256
#define MOST_PORTS 8

/* The programs that have changed the table since the last line. */
struct changes {
  uint32_t ports[MOST_PORTS];
  size_t count;
  bool is_unknown;
};

static _Alignas(struct nlmsghdr) char buffer[65536];

static int failed(const char *what) {
  dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
  return 1;
}

static void note(struct changes *changes, uint32_t port) {
  for (size_t at = 0; at < changes->count; at++)
    if (changes->ports[at] == port) return;
  if (port == 0 || changes->count == MOST_PORTS) changes->is_unknown = true;
  else changes->ports[changes->count++] = port;
}

static bool is_of_table(const struct nlmsghdr *message, const char *table) {
  const size_t head = NLMSG_LENGTH(sizeof(struct nfgenmsg));
  if (message->nlmsg_type >> 8 != NFNL_SUBSYS_NFTABLES || message->nlmsg_len < head) return false;
  const int type = message->nlmsg_type & 0xff;
  const int family = ((const struct nfgenmsg *)NLMSG_DATA(message))->nfgen_family;
  if (type == NFT_MSG_NEWGEN || (family != NFPROTO_IPV4 && family != NFPROTO_BRIDGE)) return false;
  const struct nlattr *const name = find_attribute((const char *)message + head, message->nlmsg_len - head, TABLE_ATTRIBUTE);
  const size_t size = strlen(table) + 1;
  return name != NULL && name->nla_len == NLA_HDRLEN + size && memcmp((const char *)name + NLA_HDRLEN, table, size) == 0;
}

/* Returns -1: the socket does not work any more. */
static int take_events(int events, const char *table, struct changes *changes) {
  for (int round = 0; round < MOST_AT_ONCE; round++) {
    struct sockaddr_nl from = {0};
    socklen_t size = sizeof(from);
    const ssize_t count = recvfrom(events, buffer, sizeof(buffer), MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&from, &size);
    if (count < 0 && errno == ENOBUFS) note(changes, 0);
    else if (count < 0 && errno != EINTR) return errno == EAGAIN ? 0 : -1;
    // Other processes can write to this socket, too.
    if (count < 0 || from.nl_pid != 0) continue;
    // The kernel has cut the message off.
    if ((size_t)count > sizeof(buffer)) {
      note(changes, 0);
      continue;
    }
    // With a sign: the length of the last message, rounded up to the next one, may be more than what is left.
    ssize_t left = count;
    for (const struct nlmsghdr *one = (const struct nlmsghdr *)buffer; NLMSG_OK(one, left); one = NLMSG_NEXT(one, left))
      if (is_of_table(one, table)) note(changes, one->nlmsg_pid);
  }
  return 0;
}

/* Returns false if the pipe is still full of earlier lines. */
static bool tell(const struct changes *changes) {
  char text[16 * (MOST_PORTS + 2)] = "changed";
  size_t length = strlen(text);
  for (size_t at = 0; at < changes->count; at++)
    length += (size_t)snprintf(text + length, sizeof(text) - length, " %u", changes->ports[at]);
  length += (size_t)snprintf(text + length, sizeof(text) - length, changes->is_unknown ? " 0\n" : "\n");
  return write(STDOUT_FILENO, text, length) == (ssize_t)length;
}

/* Returns the exit status. */
static int tell_generation(int asks) {
  struct {
    struct nlmsghdr header;
    struct nfgenmsg family;
  } request = {
    .header = {.nlmsg_len = sizeof(request), .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN, .nlmsg_flags = NLM_F_REQUEST},
    .family = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0},
  };
  if (send(asks, &request, sizeof(request), 0) < 0) return failed("ask for the generation");
  const ssize_t count = recv(asks, buffer, sizeof(buffer), 0);
  if (count < 0) return failed("read the generation");
  const struct nlmsghdr *const answer = (const struct nlmsghdr *)buffer;
  const size_t head = NLMSG_LENGTH(sizeof(struct nfgenmsg));
  if (!NLMSG_OK(answer, (size_t)count) || answer->nlmsg_len < head || answer->nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN)) {
    errno = answer->nlmsg_type == NLMSG_ERROR && (size_t)count >= NLMSG_LENGTH(sizeof(struct nlmsgerr))
              ? -((const struct nlmsgerr *)NLMSG_DATA(answer))->error
              : EBADMSG;
    return failed("read the generation");
  }
  const struct nlattr *const id = find_attribute(buffer + head, answer->nlmsg_len - head, NFTA_GEN_ID);
  uint32_t generation;
  if (id == NULL || id->nla_len < NLA_HDRLEN + sizeof(generation)) {
    errno = EBADMSG;
    return failed("read the generation");
  }
  memcpy(&generation, (const char *)id + NLA_HDRLEN, sizeof(generation));
  dprintf(STDOUT_FILENO, "generation %u\n", ntohl(generation));
  return 0;
}

static int netfilter_socket(void) {
  return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int watch_table(const char *table) {
  const int events = netfilter_socket();
  const int asks = netfilter_socket();
  const int group = NFNLGRP_NFTABLES, size = QUEUE_BYTES;
  const struct timeval longest = {.tv_sec = 1};
  if (events < 0 || asks < 0) return failed("netlink");
  // The kernel sends nothing to a socket without a port.
  const struct sockaddr_nl any_port = {.nl_family = AF_NETLINK};
  if (bind(events, (const struct sockaddr *)&any_port, sizeof(any_port)) < 0) return failed("netlink");
  // Without the right to a longer queue it is as long as that of others.
  setsockopt(events, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
  if (setsockopt(events, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0) return failed("listen to nftables");
  if (setsockopt(asks, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest)) < 0) return failed("netlink");
  // If nobody reads the output, this process must still see the end of its input.
  if (fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK) < 0) return failed("standard output");
  if (tell_generation(asks) != 0) return 1;
  struct changes changes = {.count = 0};
  for (int64_t next_ms = 0;;) {
    const int64_t wait_ms = next_ms - now_ms();
    struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = wait_ms > 0 ? -1 : events, .events = POLLIN}};
    const bool is_told = changes.count == 0 && !changes.is_unknown;
    if (poll(polled, 2, wait_ms > 0 ? (int)wait_ms : is_told ? -1 : 0) < 0 && errno != EINTR) return failed("poll");
    if (polled[0].revents != 0) {
      char asked[16];
      const ssize_t count = read(STDIN_FILENO, asked, sizeof(asked));
      if (count <= 0) return 0;
      for (ssize_t at = 0; at < count; at++)
        if (tell_generation(asks) != 0) return 1;
    }
    if (polled[1].revents != 0 && take_events(events, table, &changes) < 0) return failed("listen to nftables");
    if (wait_ms > 0 || (changes.count == 0 && !changes.is_unknown)) continue;
    if (tell(&changes)) changes = (struct changes){.count = 0};
    next_ms = now_ms() + TOGETHER_MS;
  }
}
