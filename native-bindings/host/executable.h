/* A descriptor of the embedded helper that execveat(2) accepts. */
#ifndef RUNT_HOST_EXECUTABLE_H
#define RUNT_HOST_EXECUTABLE_H
#include <stdbool.h>
#include <stdint.h>

extern const uint8_t helper_start[];
extern const uint8_t helper_end[];
enum helper_source { HELPER_SEALED_MEMFD, HELPER_DETACHED_TMPFS, HELPER_UNNAMED_FILE, HELPER_SOURCES };
/* -1 and errno when this source is not available here. */
int helper_open(enum helper_source source);
/* The sealed memfd in two steps: the file; and its content and seals, for a child that runs beside its parent (no errno, no memory). */
int helper_empty_memfd(void);
bool helper_fill_beside(int fd);

#endif
