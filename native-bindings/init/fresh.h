/* Files of our own making, in directories that others may write to: whatever has their name already is never opened. */
#ifndef RUNT_FRESH_H
#define RUNT_FRESH_H
#include "../shared/str.h"

/* A new file at `path`, open for writing, in place of whatever had that name; or a negative errno. */
int fresh_open(const char *path);
/* The same at PATH.PID, or at a random name if another process keeps making that one; the name is put into `name`. */
int fresh_beside(const char *path, struct buffer *name);
#endif
