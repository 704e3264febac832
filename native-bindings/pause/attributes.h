#ifndef RUNT_PAUSE_ATTRIBUTES_H
#define RUNT_PAUSE_ATTRIBUTES_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

/* The first attribute of this type among those of a netlink message. NULL: there is none. */
const struct nlattr *find_attribute(const void *start, size_t length, uint16_t type);

#endif
