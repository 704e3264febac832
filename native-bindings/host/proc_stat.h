#ifndef RUNT_HOST_PROC_STAT_H
#define RUNT_HOST_PROC_STAT_H
#include <stdbool.h>
#include <stddef.h>

struct process_stat {
    char state;
    char waits_as; /* the same, or 'x': it is exiting, whatever it still waits for */
    /* In clock ticks since boot, decimal; until the next call. */
    const char *start_time;
    size_t start_time_length;
    const char *call; /* that failed */
};
/* Of the process with this pid, decimal. 1; 0: there is none; -1 and errno: nobody knows (there is no /proc). */
int host_process_stat(const char *pid, size_t length, struct process_stat *stat);
/* A zombie, too. */
bool host_is_dead(const struct process_stat *stat);

#endif
