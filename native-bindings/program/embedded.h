/* Bytecode and blobs (embed.S), sorted as the build wrote them. */
#ifndef RUNT_PROGRAM_EMBEDDED_H
#define RUNT_PROGRAM_EMBEDDED_H
#include <stdint.h>

#include "protocol/embedded.h"

extern const struct embedded embedded_modules[];
extern const struct embedded embedded_resources[];

#endif
