/* The fault points of the helper: before and after every operation, and before and after every message. None in the product. */
#ifndef RUNT_POINTS_H
#define RUNT_POINTS_H

#ifdef RUNT_TESTING
#include <stdint.h>

#include "testing.h"

#define TESTING_BEGIN(environment, process) testing_begin(environment, process)
#define TESTING_BECOME(process) testing_become(process)
struct run;
/* Each gives 0, or the negative errno that the operation or the message fails with. */
long point_operation(struct run *run, const char *when, uint32_t operation);
long point_message(const char *when, uint32_t type);
#define POINT_OPERATION(run, when, operation) point_operation(run, when, operation)
#define POINT_MESSAGE(when, type) point_message(when, type)
/* In a process that executes no plan: it can only be killed there. */
#define POINT(when, what) ((void)testing_point(when, what, NULL))
/* RUNT_FAULT_LOG is above it. */
#define LAST_DESCRIPTOR 899u
#else
#define TESTING_BEGIN(environment, process) ((void)0)
#define TESTING_BECOME(process) ((void)0)
#define POINT_OPERATION(run, when, operation) 0L
#define POINT_MESSAGE(when, type) 0L
#define POINT(when, what) ((void)0)
#define LAST_DESCRIPTOR UINT32_MAX
#endif

#endif
