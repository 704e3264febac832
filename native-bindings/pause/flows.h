#ifndef RUNT_PAUSE_FLOWS_H
#define RUNT_PAUSE_FLOWS_H

/* Returns the exit status; what is wrong is on stderr. */
int end_flows(const char *address, const char *port, const char *kept);

#endif
