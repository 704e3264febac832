/* What is done when a foreground container has ended. */
#ifndef RUNT_CLEANUP_H
#define RUNT_CLEANUP_H
#include "ending.h"
#include "monitor_options.h"

struct cleanup {
  /* ROOT/ID: the descriptor that create has locked it by, and its path. The lock is free while the container runs. -1 = a process of exec,
   * after which there is nothing to do. */
  int state;
  const char *state_path;
  /* MONITOR_RMDIR PATH, MONITOR_UNLINK PATH and MONITOR_TRY_RMDIR PATH, in order (src/shared/protocol/monitor.ts). */
  char **steps;
  int step_count;
  /* Run when a step fails for another reason than absence, or there are none: argv (may be empty) of the program behind the descriptor. It
   * inherits `state`, locked. */
  int executable;
  char **command, **environment;
};

/* CLEAN: nothing of this container is left, or it was not ours any more. KEPT: nothing was to be done. LEFT: something is, and stderr says what. */
enum cleanup_result { CLEANUP_CLEAN, CLEANUP_KEPT, CLEANUP_LEFT };

/* Lets the lock go. False: malformed. */
bool cleanup_begin(struct cleanup *cleanup, const struct monitor_options *options);
/* Another directory that has the same path by now is not touched. */
enum cleanup_result clean_up(const struct cleanup *cleanup, struct ending *ending);
#endif
