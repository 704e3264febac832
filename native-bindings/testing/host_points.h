/* The fault points of the runtime: around the functions of the host module. None in the product, where its exports are what they are. */
#ifndef RUNT_HOST_POINTS_H
#define RUNT_HOST_POINTS_H

#ifdef RUNT_TESTING
#include <quickjs.h>

#include "testing.h"

/* The table of exports with points around what has an effect, and in front of what only reads. */
const JSCFunctionListEntry *host_points(const JSCFunctionListEntry *exports, int count);
/* RUNT_DISABLE_DEFENCES and RUNT_DISABLE for TypeScript: the globals RUNT_DISABLED_DEFENCES and RUNT_DISABLED (src/runtime/testing/index.ts). */
void host_testing_begin(JSContext *ctx);
/* The variables that the helper needs for its part. */
char **host_testing_environment(void);
#define WITH_POINTS(exports) host_points(exports, ARRAY_LENGTH(exports))
#define HOST_TESTING_BEGIN(ctx) host_testing_begin(ctx)
#define HOST_TESTING_ENVIRONMENT(none) ((void)(none), host_testing_environment())
#else
#define WITH_POINTS(exports) (exports)
#define HOST_TESTING_BEGIN(ctx) ((void)0)
#define HOST_TESTING_ENVIRONMENT(none) (none)
#endif

#endif
