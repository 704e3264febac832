/*
 * Run a program with some system calls refused, as on an older kernel or in a container.
 * Usage: refuse ENOSYS|EPERM CALL[,CALL...] PROGRAM [ARGUMENT...]
 * The call `nosymfollow` is fsmount(2) with this attribute, which older kernels do not know: EINVAL. `memfd_exec` is memfd_create(2) of a
 * file that may be executed, as vm.memfd_noexec=2 refuses it: EACCES.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CALLS 64

#define CALL(name) { #name, SYS_##name }
static const struct {
    const char *name;
    long number;
} calls[] = {
    CALL(memfd_create),  CALL(fsopen),     CALL(fsconfig),   CALL(fsmount),       CALL(open_tree), CALL(move_mount),
    CALL(mount_setattr), CALL(openat2),    CALL(clone3),     CALL(pidfd_open),    CALL(close_range), CALL(pidfd_send_signal),
    CALL(faccessat2),    CALL(execveat),   CALL(keyctl),     CALL(bpf),           CALL(pivot_root),  CALL(statx),
    CALL(setgroups),     CALL(mknodat),    CALL(prctl),      CALL(setns),         CALL(unshare),     CALL(fspick),
    CALL(seccomp),       CALL(sched_setattr),
};

/* Refuse calls that have this bit in this argument. */
static const struct {
    const char *name;
    unsigned number, argument, bit;
    unsigned short error;
} flagged[] = {
    { "nosymfollow", SYS_fsmount, 2, 0x200000, EINVAL },
    { "memfd_exec", SYS_memfd_create, 1, 0x10, EACCES },
};

static unsigned short refuse_flagged(const char *name, struct sock_filter *code) {
    for (size_t i = 0; i < sizeof(flagged) / sizeof(flagged[0]); i++) {
        if (strcmp(flagged[i].name, name) != 0) continue;
        const struct sock_filter look[] = {
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flagged[i].number, 0, 4),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args) + flagged[i].argument * 8),
            BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flagged[i].bit, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | flagged[i].error),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        };
        memcpy(code, look, sizeof(look));
        return sizeof(look) / sizeof(look[0]);
    }
    return 0;
}

static long number_of(const char *name) {
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i].name, name) == 0) return calls[i].number;
    fprintf(stderr, "refuse: unknown call %s\n", name);
    exit(125);
}

int main(int argc, char **argv) {
    if (argc < 4) return 125;
    unsigned error = strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS;
    struct sock_filter code[6 * MAX_CALLS + 2];
    unsigned short length = 0;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    unsigned count = 0;
    for (char *name = strtok(argv[2], ","); name && count < MAX_CALLS; name = strtok(NULL, ","), count++) {
        const unsigned short added = refuse_flagged(name, code + length);
        length += added;
        if (added > 0) continue;
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number_of(name), 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { length, code };
    if (geteuid() != 0) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0) {
        perror("refuse: seccomp");
        return 125;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 127;
}
