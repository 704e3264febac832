// Runs a command, prints its exit status, and then adopts its orphans without ever reaping one, until stdin ends.
// Usage: subreaper PROGRAM [ARGUMENT]...
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return 3;
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0)
        continue;
    return 0;
}
