/* Bytecode and blobs (embed.S), sorted as the build wrote them. */
#ifndef RUNT_PROGRAM_EMBEDDED_H
#define RUNT_PROGRAM_EMBEDDED_H
#include <stdint.h>

/* What of a module is part of the image of the started engine; the same numbers stand in tools/bundle.ts. */
enum image_place { IMAGE_READ, IMAGE_EVALUATED, IMAGE_LEFT_OUT };
struct embedded {
    const char *name;
    const uint8_t *start;
    const uint8_t *end;
    uint64_t place; /* enum image_place */
};
extern const struct embedded embedded_modules[];
extern const struct embedded embedded_resources[];

#endif
