// How the kernel schedules processes of the host: one line for each PID, in numbers of linux/sched.h and linux/ioprio.h.
// Usage: scheduling PID...; prints "policy=N flags=N nice=N priority=N runtime=N deadline=N period=N io=CLASS:LEVEL"
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

int main(int argc, char **argv)
{
    enum { IOPRIO_WHO_PROCESS = 1, CLASS_SHIFT = 13 };
    for (int i = 1; i < argc; i++) {
        struct attributes a = {0};
        int pid = atoi(argv[i]);
        long io = syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, pid);
        if (io < 0 || syscall(SYS_sched_getattr, pid, &a, sizeof a, 0)) {
            fprintf(stderr, "scheduling %d: %s\n", pid, strerror(errno));
            return 1;
        }
        printf("policy=%u flags=%llu nice=%d priority=%u runtime=%llu deadline=%llu period=%llu io=%ld:%ld\n", a.policy, (unsigned long long)a.flags,
               a.nice, a.priority, (unsigned long long)a.runtime, (unsigned long long)a.deadline, (unsigned long long)a.period, io >> CLASS_SHIFT,
               io & ((1 << CLASS_SHIFT) - 1));
    }
    return 0;
}
