/* Files of our own making, in directories that others may write to: whatever has their name already is never opened, nor removed unless it says so. */
#ifndef RUNT_FRESH_H
#define RUNT_FRESH_H
#include "../shared/str.h"

/* A new file at `path`, open for writing; whatever had that name is removed, but no directory. Or a negative errno. */
int fresh_open(const char *path);
/* A new file at PATH.PID, or at a random name if that name is taken; the name is put into `name`. */
int fresh_beside(const char *path, struct buffer *name);
#endif
