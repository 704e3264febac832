#ifndef RUNT_PAUSE_WATCH_H
#define RUNT_PAUSE_WATCH_H

/* Returns the exit status: 0 when the standard input has ended. What is wrong is on stderr. */
int watch_table(const char *table);

#endif
