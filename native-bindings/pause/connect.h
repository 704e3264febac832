#ifndef RUNT_PAUSE_CONNECT_H
#define RUNT_PAUSE_CONNECT_H

/* Returns the exit status; what is wrong is on stderr. */
int connect_in_namespace(const char *verb, const char *path, const char *address, const char *port);

#endif
