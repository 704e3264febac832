/* From the container's pipes into the rings. */
#ifndef RUNT_LOG_TAKE_H
#define RUNT_LOG_TAKE_H
#include "log_pump.h"

/* `most` bytes at most, and no more than there is room for. Bytes taken; 0 at the end of the stream; -EAGAIN: none are there. */
long log_take(struct log_pump *pump, unsigned stream, uint64_t most);
/* Ends a take that an earlier pump has begun. */
void log_take_rest(struct log_pump *pump);
#endif
