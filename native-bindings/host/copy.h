#ifndef RUNT_HOST_COPY_H
#define RUNT_HOST_COPY_H
#include <stddef.h>
#include <stdint.h>

/* memcpy(3) of few bytes: a string instruction takes longer to start than this copy takes in all. */
static inline void host_copy_few(uint8_t *to, const uint8_t *from, size_t length) {
    if (length >= 8) {
        for (size_t i = 0; i < length - 8; i += 8) __builtin_memcpy(to + i, from + i, 8);
        __builtin_memcpy(to + length - 8, from + length - 8, 8);
    } else if (length >= 4) {
        __builtin_memcpy(to, from, 4);
        __builtin_memcpy(to + length - 4, from + length - 4, 4);
    } else if (length > 0) {
        to[0] = from[0];
        to[length / 2] = from[length / 2];
        to[length - 1] = from[length - 1];
    }
}

#endif
