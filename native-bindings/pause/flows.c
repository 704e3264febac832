/*
 * runt-pause flows ADDRESS PORT KEPT: ends the flows of UDP over IPv4 in the kernel's table of connections whose clients have sent to PORT of this host, but for those that
 * are answered by one of KEPT, such as "10.64.0.2:53,10.64.0.3:53". ADDRESS is the address of this host, or "-": any of its own. Source: the kernel's
 * include/uapi/linux/netfilter/nfnetlink_conntrack.h.
 */
#define _GNU_SOURCE
#include "flows.h"

#include "attributes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One direction of a flow. */
struct way {
  struct in_addr from;
  struct in_addr to;
  uint16_t from_port;
  uint16_t to_port;
  uint8_t protocol;
};

struct request {
  struct nlmsghdr header;
  struct nfgenmsg family;
  char attributes[512];
};

static int failed(const char *what) {
  dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
  return 1;
}

static const struct nlattr *within(const struct nlattr *of, uint16_t type) {
  return of == NULL ? NULL : find_attribute((const char *)of + NLA_HDRLEN, of->nla_len - NLA_HDRLEN, type);
}

static bool take(const struct nlattr *from, void *value, size_t size) {
  if (from == NULL || from->nla_len < NLA_HDRLEN + size) return false;
  memcpy(value, (const char *)from + NLA_HDRLEN, size);
  return true;
}

/* false: it is no tuple of IPv4 with ports. */
static bool read_way(const struct nlattr *tuple, struct way *way) {
  const struct nlattr *const ip = within(tuple, CTA_TUPLE_IP);
  const struct nlattr *const proto = within(tuple, CTA_TUPLE_PROTO);
  return take(within(ip, CTA_IP_V4_SRC), &way->from, 4) && take(within(ip, CTA_IP_V4_DST), &way->to, 4) &&
         take(within(proto, CTA_PROTO_NUM), &way->protocol, 1) && take(within(proto, CTA_PROTO_SRC_PORT), &way->from_port, 2) &&
         take(within(proto, CTA_PROTO_DST_PORT), &way->to_port, 2);
}

/* An address of this host is one that a socket can have. */
static bool is_of_host(struct in_addr address) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr = address};
  const bool is_own = fd >= 0 && bind(fd, (const struct sockaddr *)&local, sizeof(local)) == 0;
  if (fd >= 0) close(fd);
  return is_own;
}

static bool is_kept(const struct way *answer, const char *kept) {
  char address[INET_ADDRSTRLEN], text[INET_ADDRSTRLEN + 8];
  if (inet_ntop(AF_INET, &answer->from, address, sizeof(address)) == NULL) return true;
  const int length = snprintf(text, sizeof(text), "%s:%u", address, ntohs(answer->from_port));
  for (const char *at = kept; *at != '\0';) {
    const size_t size = strcspn(at, ",");
    if (size == (size_t)length && strncmp(at, text, size) == 0) return true;
    at += size + (at[size] == ',');
  }
  return false;
}

static struct request request_of(uint8_t type, uint16_t flags) {
  struct request request;
  memset(&request, 0, sizeof(request));
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof(request.family));
  request.header.nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | type;
  request.header.nlmsg_flags = NLM_F_REQUEST | flags;
  request.family.nfgen_family = AF_INET;
  request.family.version = NFNETLINK_V0;
  return request;
}

static bool add(struct request *request, const struct nlattr *attribute) {
  const size_t end = NLMSG_ALIGN(request->header.nlmsg_len);
  if (attribute == NULL || end + NLA_ALIGN(attribute->nla_len) > sizeof(*request)) return false;
  memcpy((char *)request + end, attribute, attribute->nla_len);
  request->header.nlmsg_len = (uint32_t)(end + NLA_ALIGN(attribute->nla_len));
  return true;
}

static int netfilter_socket(void) {
  return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
}

/* The flow itself, and none that has the same addresses since: by its id. 0: it is gone. */
static int end_flow(int fd, const struct nlattr *original, const struct nlattr *id) {
  struct request request = request_of(IPCTNL_MSG_CT_DELETE, NLM_F_ACK);
  if (!add(&request, original) || !add(&request, id)) {
    errno = EBADMSG;
    return -1;
  }
  if (send(fd, &request, request.header.nlmsg_len, 0) < 0) return -1;
  struct {
    struct nlmsghdr header;
    struct nlmsgerr error;
    char rest[1024];
  } answer;
  const ssize_t length = recv(fd, &answer, sizeof(answer), 0);
  if (length < (ssize_t)NLMSG_LENGTH(sizeof(answer.error)) || answer.header.nlmsg_type != NLMSG_ERROR) {
    if (length >= 0) errno = EBADMSG;
    return -1;
  }
  errno = -answer.error.error;
  return errno == 0 || errno == ENOENT ? 0 : -1;
}

/* One entry of the table. */
static int look_at(int fd, const struct nlmsghdr *message, const struct way *wanted, const char *kept) {
  const size_t head = NLMSG_LENGTH(sizeof(struct nfgenmsg));
  if (message->nlmsg_len < head) return 0;
  const char *const start = (const char *)message + head;
  const size_t length = message->nlmsg_len - head;
  const struct nlattr *const original = find_attribute(start, length, CTA_TUPLE_ORIG);
  struct way way, answer;
  if (!read_way(original, &way) || !read_way(find_attribute(start, length, CTA_TUPLE_REPLY), &answer)) return 0;
  if (way.protocol != IPPROTO_UDP || way.to_port != wanted->to_port || is_kept(&answer, kept)) return 0;
  if (wanted->to.s_addr == INADDR_ANY ? !is_of_host(way.to) : way.to.s_addr != wanted->to.s_addr) return 0;
  return end_flow(fd, original, find_attribute(start, length, CTA_ID));
}

int end_flows(const char *address, const char *port, const char *kept) {
  static _Alignas(struct nlmsghdr) char buffer[65536];
  struct way wanted = {.to_port = htons((uint16_t)strtoul(port, NULL, 10))};
  if (strcmp(address, "-") != 0 && inet_pton(AF_INET, address, &wanted.to) != 1) {
    errno = EINVAL;
    return failed(address);
  }
  // A flow is ended by another socket than that by which the table is read.
  const int table = netfilter_socket();
  const int ends = netfilter_socket();
  if (table < 0 || ends < 0) return failed("netlink");
  struct request request = request_of(IPCTNL_MSG_CT_GET, NLM_F_DUMP);
  if (send(table, &request, request.header.nlmsg_len, 0) < 0) return failed("netlink");
  for (;;) {
    const ssize_t count = recv(table, buffer, sizeof(buffer), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("read the table of connections");
    size_t left = (size_t)count;
    for (const struct nlmsghdr *one = (const struct nlmsghdr *)buffer; NLMSG_OK(one, left); one = NLMSG_NEXT(one, left)) {
      if (one->nlmsg_type == NLMSG_DONE) return 0;
      if (one->nlmsg_type == NLMSG_ERROR) {
        errno = -((const struct nlmsgerr *)NLMSG_DATA(one))->error;
        return failed("read the table of connections");
      }
      if (look_at(ends, one, &wanted, kept) < 0) return failed("end a flow");
    }
  }
}
