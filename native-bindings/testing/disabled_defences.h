/* A defence asks `DEFENCE_DISABLED(name)` at the very point where it acts. In the product that is the constant 0, and nothing of it is left. */
#ifndef RUNT_DISABLED_DEFENCES_H
#define RUNT_DISABLED_DEFENCES_H

#ifdef RUNT_TESTING
#include "testing.h"
#define DEFENCE_DISABLED(name) testing_defence_disabled(DEFENCE_##name)
#else
#define DEFENCE_DISABLED(name) 0
#endif

#endif
