/* What the runtime tells the monitor when it starts it (src/shared/protocol/monitor.ts). */
#ifndef RUNT_MONITOR_OPTIONS_H
#define RUNT_MONITOR_OPTIONS_H
#include <stdbool.h>

#include "protocol/monitor.h"

/* The options from arguments[*at] on, which moves behind them: what is not given is -1, 0 or NULL. Descriptors get close-on-exec. False: malformed. */
bool monitor_options_take(struct monitor_options *options, char **arguments, int count, int *at);
#endif
