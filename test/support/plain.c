/*
 * Run a program as a login shell would start it: every signal with its default disposition and unblocked, no descriptor above 2, and nice value
 * 0 where there is the right for it. make (through posix_spawn of glibc) leaves signals 32 and 33 ignored and may pass descriptors of its job
 * server, and the suite may run at another nice value: a container would inherit all of it. Usage: plain PROGRAM [ARGUMENT...]
 */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LAST_SIGNAL 64
#define LAST_DESCRIPTOR 1024

int main(int argc, char **argv) {
    /* struct sigaction and the mask as the kernel has them; the C library refuses the signals it keeps for itself. */
    const unsigned long standard[4] = { 0 };
    const unsigned long none = 0;
    if (argc < 2) return 125;
    for (int number = 1; number <= LAST_SIGNAL; number++) syscall(SYS_rt_sigaction, number, standard, NULL, sizeof(none));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
    for (int fd = 3; fd < LAST_DESCRIPTOR; fd++) close(fd);
    setpriority(PRIO_PROCESS, 0, 0);
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
