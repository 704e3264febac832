/*
 * What the test build (make build/testing/runt) does and the product does not. Five variables of the environment, read by both programs:
 *
 *   RUNT_DISABLE_DEFENCES=NAME[,NAME]  defences that are switched off (defences.h)
 *   RUNT_DISABLE=NAME[,NAME]       ways to save time that are switched off: head-start (src/runtime/execute), schedule (src/runtime/plan)
 *   RUNT_FAULT=PROCESS:N:ACTION    at the Nth fault point of that process: `kill`, `stop` (SIGSTOP), `delay` (0.3 s), or the name or number of an errno to fail with
 *   RUNT_FAULT_LOG=FILE            one line for each fault point that is passed: "PROCESS N NAME"
 *   RUNT_FAULT_UNCOUNTED=NAME[,NAME] functions whose points are none: of a walk over all that a host has, for whose number others are to blame
 *
 * PROCESS is runtime, intermediate, init, monitor, notify, log (the first pump of a log) or log-again (those after it). What cannot be
 * understood ends the process with status 2.
 */
#ifndef RUNT_TESTING_H
#define RUNT_TESTING_H
#include <stdbool.h>

#include "defences.h"

/* Reads the variables. Before it no defence is disabled and no point counts. */
void testing_begin(char *const *environment, const char *process);
/* From here this is another process, whose points are counted from 1. */
void testing_become(const char *process);
bool testing_defence_disabled(enum defence defence);
/* The value of RUNT_DISABLE_DEFENCES, or NULL. */
const char *testing_disabled_defences(void);
/* The value of RUNT_DISABLE, or NULL. */
const char *testing_disabled(void);

/* Passes one fault point, named by up to three words; NULL = none. 0, or the negative errno to fail with. */
long testing_point(const char *when, const char *what, const char *which);

#endif
