/* From the rings into the file. What does not get there is dropped and counted: the container does not wait for a disk that is full. */
#ifndef RUNT_LOG_WRITE_H
#define RUNT_LOG_WRITE_H
#include "log_pump.h"

/* Everything of a stream that makes whole lines, or with `flushes` everything. */
void log_write(struct log_pump *pump, unsigned stream, bool flushes);
/* How much was dropped, if that has not been told yet. */
void log_tell(struct log_pump *pump);
/* What another pump has begun. */
void log_write_rest(struct log_pump *pump);
#endif
