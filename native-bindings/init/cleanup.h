/* What is done when a foreground container has ended. */
#ifndef RUNT_CLEANUP_H
#define RUNT_CLEANUP_H
#include "ending.h"

struct cleanup {
  /* ROOT/ID: the descriptor that create has locked it by, and its path. The lock is free while the container runs. -1 = a process of exec,
   * after which there is nothing to do. */
  int state;
  const char *state_path;
  /* --rmdir PATH, --unlink PATH and --try-rmdir PATH (may fail: somebody else uses it), in order; relative paths are below ROOT/ID. */
  char **steps;
  int step_count;
  /* Run when a step fails for another reason than absence, or there are none: argv (may be empty) of the program behind the descriptor. It
   * inherits `state`, locked. */
  int executable;
  char **command, **environment;
};

/* CLEAN: nothing of this container is left, or it was not ours any more. KEPT: nothing was to be done. LEFT: something is, and stderr says what. */
enum cleanup_result { CLEANUP_CLEAN, CLEANUP_KEPT, CLEANUP_LEFT };

/* --state FD PATH at arguments[*at], or nothing of it. False: malformed. */
bool cleanup_take(struct cleanup *cleanup, char **arguments, int count, int *at);
/* Whatever has the same path by now but is another directory is not touched. */
enum cleanup_result clean_up(const struct cleanup *cleanup, struct ending *ending);
#endif
