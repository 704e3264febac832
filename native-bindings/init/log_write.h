/* From the rings into the file. When the disk is full, output is dropped and counted: the container does not wait. */
#ifndef RUNT_LOG_WRITE_H
#define RUNT_LOG_WRITE_H
#include "log_pump.h"

/* Writes the whole lines of a stream; with `flushes` an unfinished one, too. */
void log_write(struct log_pump *pump, unsigned stream, bool flushes);
/* Writes how much was dropped since that was last written. */
void log_tell(struct log_pump *pump);
/* Ends a write that an earlier pump has begun. */
void log_write_rest(struct log_pump *pump);
#endif
