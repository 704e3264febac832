#ifndef RUNT_PROGRAM_MAIN_H
#define RUNT_PROGRAM_MAIN_H
#include <quickjs.h>

/* Print the pending exception; the exit status. */
int host_report(JSContext *ctx);
extern int host_argc;
extern char **host_argv;

#endif
