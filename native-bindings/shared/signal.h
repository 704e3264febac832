/* signal(7), in Go's words, which are those of runc: "killed"; "signal 34". */
#ifndef RUNT_SIGNAL_H
#define RUNT_SIGNAL_H
#include "str.h"

void put_signal(struct buffer *out, unsigned number);
#endif
