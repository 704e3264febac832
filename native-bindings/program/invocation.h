#ifndef RUNT_PROGRAM_INVOCATION_H
#define RUNT_PROGRAM_INVOCATION_H
#include <stdbool.h>

#include <quickjs.h>

extern int host_argc;
extern char **host_argv;
/* The image of the engine is being made: what a module reads of the system would be frozen in it. */
extern bool host_building_image;

/* Before anything else. `prefix`: what messages of this program begin with. */
void host_note_invocation(int argc, char **argv, const char *prefix);
/* Print the pending exception; the exit status. */
int host_report(JSContext *ctx);
/* What is opened later does not get the number of a standard stream that the caller has closed. */
void host_fill_stdio(void);

#endif
