/* /proc/PID/stat, whose second field is whatever the program calls itself. */
#include "../../../native-bindings/shared/process_stat.c"

#include <stdlib.h>
#include <string.h>

#include "parsers.h"

void parse_process_stat(const uint8_t *data, size_t size) {
    char *line = malloc(size + 1);
    struct process_stat stat = { 0 };
    if (!line) abort();
    memcpy(line, data, size);
    line[size] = 0;
    if (process_stat_parse(line, &stat)) {
        const char *end = stat.start_time + stat.start_time_length;
        if (stat.state == 0 || stat.start_time <= line || stat.start_time_length == 0 || end > line + size) abort();
        for (const char *at = stat.start_time; at < end; at++)
            if (*at < '0' || *at > '9') abort();
    }
    free(line);
}
