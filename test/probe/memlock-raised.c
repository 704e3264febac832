// Runs a command under a filter that answers each change of RLIMIT_MEMLOCK with success and makes none.
// crun raises the limit before it loads a device program, and ends when it may not: a host's root without CAP_SYS_RESOURCE may not. Since Linux
// 5.11 such programs are charged to the memory cgroup, and the limit says nothing.
// Usage: memlock-raised COMMAND [ARGUMENT...]
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#define NATIVE AUDIT_ARCH_AARCH64
#else
#define NATIVE AUDIT_ARCH_X86_64
#endif
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_HIGH(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + 4)
#define SKIP_IF(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (count), 0)
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))

int main(int argc, char **argv) {
    struct sock_filter filter[] = {
        LOAD(arch),
        SKIP_UNLESS(NATIVE, 12),
        LOAD(nr),
        SKIP_UNLESS(SYS_setrlimit, 2),
        LOAD(args[0]),
        SKIP_IF(RLIMIT_MEMLOCK, 9),
        LOAD(nr),
        SKIP_UNLESS(SYS_prlimit64, 6),
        // Without new limits it asks only.
        LOAD(args[2]),
        SKIP_UNLESS(0, 2),
        LOAD_HIGH(args[2]),
        SKIP_IF(0, 2),
        LOAD(args[1]),
        SKIP_IF(RLIMIT_MEMLOCK, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        ANSWER(SECCOMP_RET_ERRNO),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (argc < 2) return 2;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("seccomp");
        return 125;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
