#ifndef RUNT_HOST_RENDEZVOUS_H
#define RUNT_HOST_RENDEZVOUS_H
#include "arguments.h"

/* The page of an optional argument (an ArrayBuffer), NULL where there is none. */
volatile uint32_t *host_page(const struct argument *argument);

#endif
