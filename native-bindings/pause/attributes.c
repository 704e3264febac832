/* Attributes of netlink messages. */
#include "attributes.h"

const struct nlattr *find_attribute(const void *start, size_t length, uint16_t type) {
  for (const char *at = start; length >= NLA_HDRLEN;) {
    const struct nlattr *const one = (const struct nlattr *)at;
    if (one->nla_len < NLA_HDRLEN || one->nla_len > length) return NULL;
    if ((one->nla_type & NLA_TYPE_MASK) == type) return one;
    const size_t step = NLA_ALIGN(one->nla_len);
    if (step >= length) return NULL;
    at += step;
    length -= step;
  }
  return NULL;
}
