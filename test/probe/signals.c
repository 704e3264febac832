// Writes the number of every signal it gets, one a line, to the file; a child of it does the same with "child " before the number.
// Usage: signals FILE
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    // All 64, also those that the C library keeps for itself.
    unsigned long all = ~0ul;
    if (argc < 2 || syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all))
        return 2;
    int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int child = fork() == 0;
    if (file < 0 || (!child && write(file, "ready\n", 6) != 6))
        return 3;
    for (;;) {
        long number = syscall(SYS_rt_sigtimedwait, &all, NULL, NULL, sizeof all);
        char line[32];
        int length = snprintf(line, sizeof line, "%s%ld\n", child ? "child " : "", number);
        if (number > 0 && write(file, line, (size_t)length) != length)
            return 4;
    }
}
