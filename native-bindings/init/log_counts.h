/* What a log pump tells others: who it is, and how much it has written and dropped. JSON with the names of src/shared/protocol/exit-record.ts. */
#ifndef RUNT_LOG_COUNTS_H
#define RUNT_LOG_COUNTS_H
#include "log_pump.h"

void log_counts_put(struct log_pump *pump);
/* Since they were put. */
bool log_counts_changed(const struct log_pump *pump);
#endif
