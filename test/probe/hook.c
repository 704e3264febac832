// Writes what it was started with beside itself: PROGRAM.cmdline and PROGRAM.environ as procfs tells them, PROGRAM.stdin what it reads.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int copy(int from, const char *program, const char *name)
{
    char path[PATH_MAX + 16], text[4096];
    snprintf(path, sizeof path, "%s.%s", program, name);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    ssize_t size;
    while ((size = read(from, text, sizeof text)) > 0)
        if (write(to, text, size) != size)
            return 1;
    close(to);
    return size < 0;
}

int main(void)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return 1;
    program[length] = 0;
    return copy(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), program, "cmdline")
        || copy(open("/proc/self/environ", O_RDONLY | O_CLOEXEC), program, "environ") || copy(0, program, "stdin");
}
