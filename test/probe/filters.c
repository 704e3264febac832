// Prints the seccomp filters of a process, the newest first: "filter FLAGS", then one line an instruction, "CODE TRUE FALSE VALUE".
// FLAGS are the SECCOMP_FILTER_FLAG_* the kernel keeps, which is LOG. Usage: filters PID
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

// linux/ptrace.h, which does not go with sys/ptrace.h.
#define GET_FILTER 0x420c
#define GET_METADATA 0x420d
struct metadata {
    uint64_t offset, flags;
};

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    pid_t pid = atoi(argv[1]);
    int status;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) || waitpid(pid, &status, __WALL) != pid) {
        perror("ptrace");
        return 1;
    }
    int result = 0;
    for (uintptr_t index = 0;; index++) {
        static struct sock_filter program[4096];
        long length = ptrace(GET_FILTER, pid, (void *)index, program);
        if (length < 0 && errno == ENOENT)
            break;
        struct metadata metadata = {.offset = index};
        if (length < 0 || ptrace(GET_METADATA, pid, (void *)sizeof metadata, &metadata) < 0) {
            perror("filter");
            result = 1;
            break;
        }
        printf("filter %llu\n", (unsigned long long)metadata.flags);
        for (long i = 0; i < length; i++)
            printf("%u %u %u %u\n", program[i].code, program[i].jt, program[i].jf, program[i].k);
    }
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return result;
}
