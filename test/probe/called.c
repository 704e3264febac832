// Stands in for a runtime: PATH, whose own program is PATH.real. Appends "MICROSECONDS WORD WORD..." (CLOCK_MONOTONIC, its arguments) to PATH.calls and
// executes PATH.real; with `--trace PATH.trace-MICROSECONDS` if there is a file PATH.traced.
// Usage: PATH ARGUMENT...
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 8192, SUFFIX = 64 };

static char self[PATH_MAX], other[PATH_MAX + SUFFIX], line[LINE];

static const char *beside(const char *suffix) {
    snprintf(other, sizeof other, "%s%s", self, suffix);
    return other;
}

int main(int argc, char **argv) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long microseconds = now.tv_sec * 1000000LL + now.tv_nsec / 1000;
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 125;
    size_t length = (size_t)snprintf(line, sizeof line, "%lld", microseconds);
    for (int i = 1; i < argc && length < sizeof line - 1; i++) length += (size_t)snprintf(line + length, sizeof line - length, " %s", argv[i]);
    if (length > sizeof line - 2) length = sizeof line - 2;
    line[length++] = '\n';
    // One write: calls may be made at the same time.
    int calls = open(beside(".calls"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (calls < 0 || write(calls, line, length) != (ssize_t)length) return 125;
    char **command = calloc((size_t)argc + 3, sizeof *command);
    if (command == NULL) return 125;
    int count = 0;
    command[count++] = argv[0];
    static char trace[PATH_MAX + SUFFIX];
    if (access(beside(".traced"), F_OK) == 0) {
        snprintf(trace, sizeof trace, "%s.trace-%lld", self, microseconds);
        command[count++] = "--trace";
        command[count++] = trace;
    }
    for (int i = 1; i < argc; i++) command[count++] = argv[i];
    execv(beside(".real"), command);
    return 127;
}
