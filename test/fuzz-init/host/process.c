/* /proc/PID/stat, whose second field is whatever the program calls itself. */
#include "../../../native-bindings/host/process.c"

#include <stdlib.h>

#include "parsers.h"

void parse_process_stat(const uint8_t *data, size_t size) {
    char state[2] = { 0 }, *line = malloc(size + 1);
    uint64_t start_time;
    if (!line) abort();
    memcpy(line, data, size);
    line[size] = 0;
    if (parse_stat(line, state, &start_time) && (state[0] == 0 || state[1] != 0)) abort();
    free(line);
}
