/* A defence asks `WEAKENED(name)` at the very point where it acts. In the product that is the constant 0, and nothing of it is left. */
#ifndef RUNT_WEAKEN_H
#define RUNT_WEAKEN_H

#ifdef RUNT_TESTING
#include "testing.h"
#define WEAKENED(name) testing_weakened(WEAKNESS_##name)
#else
#define WEAKENED(name) 0
#endif

#endif
