#include "signal.h"

/* An array of pointers would be relocated at every start of the helper. */
static const char SIGNALS[][26] = {
    [1] = "hangup",
    [2] = "interrupt",
    [3] = "quit",
    [4] = "illegal instruction",
    [5] = "trace/breakpoint trap",
    [6] = "aborted",
    [7] = "bus error",
    [8] = "floating point exception",
    [9] = "killed",
    [10] = "user defined signal 1",
    [11] = "segmentation fault",
    [12] = "user defined signal 2",
    [13] = "broken pipe",
    [14] = "alarm clock",
    [15] = "terminated",
    [16] = "stack fault",
    [24] = "CPU time limit exceeded",
    [25] = "file size limit exceeded",
    [26] = "virtual timer expired",
    [27] = "profiling timer expired",
    [29] = "I/O possible",
    [30] = "power failure",
    [31] = "bad system call",
};

void put_signal(struct buffer *out, unsigned number) {
  if (number < sizeof SIGNALS / sizeof *SIGNALS && SIGNALS[number][0] != 0) return put_text(out, SIGNALS[number]);
  put_text(out, "signal ");
  put_u64(out, number);
}
