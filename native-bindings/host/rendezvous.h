#ifndef RUNT_HOST_RENDEZVOUS_H
#define RUNT_HOST_RENDEZVOUS_H
#include "function.h"

/* The page of an optional argument (an ArrayBuffer), NULL where there is none. False: an exception. */
bool host_page(JSContext *ctx, JSValueConst value, volatile uint32_t **page);

#endif
