#ifndef RUNT_HOST_WAIT_H
#define RUNT_HOST_WAIT_H
#include <stdbool.h>
#include <stdint.h>

/* poll(2) that goes on after signals until timeout_ms is over. EINTR: one that ends waits has come (endWaitsBySignal). */
struct pollfd;
int host_poll_until(struct pollfd *fds, unsigned long count, int timeout_ms);
int64_t host_monotonic_ms(void);
bool host_has_blocked_signals(void);
/* A signal that ends programs is waiting, or has ended a wait. */
bool host_is_asked_to_end(void);

#endif
