#ifndef RUNT_HOST_PROC_STAT_H
#define RUNT_HOST_PROC_STAT_H
#include "../shared/process_stat.h"

/* Of the process with this pid, decimal; its texts last until the next call. 1; 0: there is none; -1 and errno: not known (there is no /proc), *call is
   what failed. */
int host_process_stat(const char *pid, size_t length, struct process_stat *stat, const char **call);

#endif
