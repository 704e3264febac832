/* What is done when a foreground container has ended. */
#ifndef RUNT_CLEANUP_H
#define RUNT_CLEANUP_H
#include <stdbool.h>

/* `steps`: --rmdir PATH, --unlink PATH and --try-rmdir PATH (may fail: somebody else uses it), in order. If one fails for another reason than absence, or there are none,
 * `command` (argv, may be empty) is run from the executable behind the descriptor. False: something is left. */
bool clean_up(char **steps, int step_count, int executable, char **command, char **environment);
#endif
