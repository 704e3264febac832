// Makes a process with this very pid, says so, and ends both when stdin ends. Status 1: the pid is taken, or may not be asked for.
// Usage: take-pid PID
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// clone_args of clone(2), in its second version; musl brings no kernel headers.
struct arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size;
};

int main(int argc, char **argv)
{
    pid_t wanted = argc > 1 ? atoi(argv[1]) : 0;
    struct arguments args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&wanted, .set_tid_size = 1};
    long pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid < 0) {
        perror("clone3");
        return 1;
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        for (;;)
            pause();
    }
    printf("%ld\n", pid);
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0)
        continue;
    kill((pid_t)pid, SIGKILL);
    waitpid((pid_t)pid, NULL, 0);
    return 0;
}
