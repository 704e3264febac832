#ifndef RUNT_HOST_WAIT_H
#define RUNT_HOST_WAIT_H
#include <stdint.h>

/* poll(2) that goes on after signals until timeout_ms is over. EINTR: one that ends waits has come (endWaitsBySignal). */
struct pollfd;
int host_poll_until(struct pollfd *fds, unsigned long count, int timeout_ms);
int64_t host_monotonic_ms(void);

#endif
