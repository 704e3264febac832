/* Start a process without copying this one: clone(CLONE_VM), the child only makes system calls until its exec. */
#include "spawn.h"

#include "../shared/child.h"
#include "../shared/raw.h"
#include "../shared/spin_wait.h"
#include "../testing/disabled_defences.h"
#include "executable.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILD_STACK ((size_t)64 << 10)

struct spawned {
    const struct spawn_request *request;
    pid_t parent;
    /* Where clone3(2) is refused the child joins its cgroup itself, by this descriptor of cgroup.procs; else -1. */
    int procs;
    /* Written by the child, read by the parent: they share memory. */
    int error;
    const char *volatile failed_call;
    /* Of a child that nobody waits for: not 0 until its exec or its end, when the kernel clears it and wakes whoever waits (CLONE_CHILD_CLEARTID). */
    volatile pid_t before_exec;
};

/* The request of a child that nobody waits for: it must not change before the exec. The same holds for its stack. */
static struct spawned child_early;
/* The request of a child in a cgroup that may be frozen: then it must not change before the cgroup is thawed. */
static struct spawned child_in_cgroup;
/* Longer than any exec takes in a cgroup that is not frozen; after it the caller waits in its own way, which can be ended. */
#define FROZEN_AFTER_NS (100 * 1000 * 1000)

static bool ignored_file_size;

void host_ignore_signals(void) {
    signal(SIGPIPE, SIG_IGN);
    ignored_file_size = signal(SIGXFSZ, SIG_IGN) == SIG_IGN;
}

void host_reset_signals(void) {
    struct sigaction standard;
    memset(&standard, 0, sizeof(standard));
    standard.sa_handler = SIG_DFL;
    /* What the caller of this program ignores stays ignored, as execve(2) has it. */
    sigaction(SIGPIPE, &standard, NULL);
    if (!ignored_file_size) sigaction(SIGXFSZ, &standard, NULL);
}

static int keep_open(int fd) {
    int flags = fcntl(fd, F_GETFD);
    return flags < 0 ? -1 : fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
}

int host_execute(int fd, char *const *argv, char *const *envp) {
    syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
    if (errno != ENOSYS && errno != EPERM) return -1;
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return execve(path, argv, envp);
}

static _Noreturn void execute_beside(struct spawned *child) {
    const struct spawn_request *request = child->request;
    raw_call(SYS_execveat, request->program_fd, (long)"", (long)request->argv, (long)request->envp, AT_EMPTY_PATH);
    child->failed_call = "execveat";
    _exit(127);
}

static int fail(struct spawned *child, const char *call) {
    child->error = errno;
    child->failed_call = call;
    _exit(127);
}

/* A program that root starts, and that becomes another user by itself, needs these until then: it opens files and a tap, and changes its ids. */
#define KEPT_BY_ROOT (1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_SETGID | 1ULL << CAP_SETUID | 1ULL << CAP_NET_ADMIN)
#define CAPABILITIES_MAX 64

/* Bare calls, here and below: the library's would change every thread, and this child has its parent's memory. */
static bool limit_bounding_set(uint64_t kept) {
    for (long capability = 0; capability < CAPABILITIES_MAX; capability++) {
        if ((kept >> capability & 1) != 0) continue;
        const long result = raw_call(SYS_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0);
        /* The number is above the last capability that this kernel knows. */
        if (result == -EINVAL) return true;
        if (result < 0) return false;
    }
    return true;
}

static bool become_user(int user) {
    return limit_bounding_set(user == 0 ? KEPT_BY_ROOT : 0) && raw_call(SYS_setgroups, 0, 0, 0, 0, 0) == 0 && raw_call(SYS_setresgid, user, user, user, 0, 0) == 0 &&
           raw_call(SYS_setresuid, user, user, user, 0, 0) == 0 && raw_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static int child_main(void *opaque) {
    struct spawned *child = opaque;
    const struct spawn_request *request = child->request;
    if (child->procs >= 0 && write(child->procs, "0", 1) < 0) return fail(child, "write");
    /* Before the death signal is asked for, which a change of the user takes back. */
    if (request->has_user && !become_user(request->user)) {
        errno = EPERM;
        return fail(child, "setresuid");
    }
    if (request->die_with_parent && !DEFENCE_DISABLED(death_signal)) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) return fail(child, "prctl");
        if (getppid() != child->parent) _exit(127);
    }
    /* Written while SIGXFSZ is still ignored: reaching RLIMIT_FSIZE is an error of write(2). */
    if (request->fills && !helper_fill_beside(request->program_fd)) {
        child->failed_call = "write";
        _exit(127);
    }
    host_reset_signals();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    long placed = request->stdio ? child_place_stdio(request->stdio) : 0;
    if (placed < 0) {
        errno = (int)-placed;
        return fail(child, "dup3");
    }
    for (uint32_t i = 0; i < request->inherit_count; i++)
        if (keep_open(request->inherit[i]) < 0) return fail(child, "fcntl");
    if (request->cwd && chdir(request->cwd) < 0) return fail(child, "chdir");
    if (request->early) execute_beside(child);
    if (request->program_fd >= 0) {
        host_execute(request->program_fd, request->argv, request->envp);
        return fail(child, "execveat");
    }
    execve(request->path, request->argv, request->envp);
    return fail(child, "execve");
}

/* clone3(2) with a stack of its own: no libc has a wrapper. The child never returns from here. */
static long clone3_on_stack(struct clone_args *arguments, int (*entry)(void *), void *opaque) {
#if defined(__x86_64__)
    long result;
    register int (*function)(void *) __asm__("r12") = entry;
    register void *argument __asm__("r13") = opaque;
    __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\txor %%ebp, %%ebp\n\tmov %%r13, %%rdi\n\tcall *%%r12\n\t"
                     "mov %%eax, %%edi\n\tmov %[exit], %%eax\n\tsyscall\n1:"
                     : "=a"(result)
                     : "a"(SYS_clone3), "D"(arguments), "S"(sizeof(*arguments)), "r"(function), "r"(argument), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long result __asm__("x0") = (long)arguments;
    register long size __asm__("x1") = sizeof(*arguments);
    register long number __asm__("x8") = SYS_clone3;
    register int (*function)(void *) __asm__("x19") = entry;
    register void *argument __asm__("x20") = opaque;
    __asm__ volatile("svc #0\n\tcbnz x0, 1f\n\tmov x0, x20\n\tblr x19\n\tmov x8, %[exit]\n\tsvc #0\n1:"
                     : "+r"(result)
                     : "r"(size), "r"(number), "r"(function), "r"(argument), [exit] "i"(SYS_exit)
                     : "memory");
    return result;
#endif
}

/* Whether a cgroup of v2 is frozen. */
static bool is_frozen(int cgroup) {
    char text[256];
    int fd = openat(cgroup, "cgroup.events", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) close(fd);
    if (length < 0) return false;
    text[length] = 0;
    return strstr(text, "frozen 1") != NULL;
}

static pid_t clone_child(struct spawned *child, uint8_t *stack) {
    const struct spawn_request *request = child->request;
    /* Only SIGKILL ends a wait of CLONE_VFORK. */
    const int wait = request->early || request->in_cgroup ? CLONE_CHILD_CLEARTID : CLONE_VFORK;
    if (!request->in_cgroup)
        return clone(child_main, stack + CHILD_STACK, CLONE_VM | wait | SIGCHLD, child, NULL, NULL, &child->before_exec);
    struct clone_args arguments = {
        .flags = CLONE_VM | (uint64_t)wait | CLONE_INTO_CGROUP,
        .child_tid = (uintptr_t)&child->before_exec,
        .exit_signal = SIGCHLD,
        .stack = (uintptr_t)stack,
        .stack_size = CHILD_STACK,
        .cgroup = (uint64_t)request->cgroup,
    };
    long pid = clone3_on_stack(&arguments, child_main, child);
    if (pid == -ENOSYS || pid == -EPERM) {
        child->procs = openat(request->cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
        if (child->procs < 0) return -1;
        /* valgrind supports clone(2) only with the flags of vfork(2). */
        const bool frozen = is_frozen(request->cgroup);
        pid = clone(child_main, stack + CHILD_STACK, CLONE_VM | (frozen ? wait : CLONE_VFORK) | SIGCHLD, child, NULL, NULL,
                    &child->before_exec);
        int error = errno;
        if (!frozen) child->before_exec = 0;
        close(child->procs);
        errno = error;
        return (pid_t)pid;
    }
    if (pid < 0) errno = (int)-pid;
    return pid < 0 ? -1 : (pid_t)pid;
}

/* State of a child that was started early. */
static struct {
    bool apart;
    struct timespec began, used;
} early;

/*
 * Schedulers may leave a new process on its parent's processor until its time slice ends (milliseconds, where virtual processors are
 * kept idle together). This one is to run now, beside its parent. With the plan it gets all of them (native-bindings/init/early.c).
 */
static void pin_to_other_cpu(pid_t child, volatile uint32_t *page) {
    cpu_set_t mine, others;
    int cpu = sched_getcpu();
    if (cpu < 0 || sched_getaffinity(0, sizeof(mine), &mine) < 0 || CPU_COUNT(&mine) < 2) return;
    others = mine;
    CPU_CLR((size_t)cpu, &others);
    early.apart = sched_setaffinity(child, sizeof(others), &others) == 0;
    /* Only until the plan is sent; host_early_is_not_preempted decides about later waits. */
    page[PAGE_SPINS] = early.apart;
    clock_gettime(CLOCK_MONOTONIC, &early.began);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &early.used);
}

static int64_t since(clockid_t clock, const struct timespec *before) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (now.tv_sec - before->tv_sec) * INT64_C(1000000000) + now.tv_nsec - before->tv_nsec;
}

#define DISTURBED_NS 50000

bool host_early_is_not_preempted(void) {
    return early.apart && since(CLOCK_MONOTONIC, &early.began) - since(CLOCK_PROCESS_CPUTIME_ID, &early.used) < DISTURBED_NS;
}

/* False: the child has neither executed nor ended, because its cgroup is frozen. */
static bool executes_soon(struct spawned *child) {
    struct timespec bound = { .tv_nsec = FROZEN_AFTER_NS };
    pid_t value;
    while ((value = child->before_exec) != 0)
        if (syscall(SYS_futex, &child->before_exec, FUTEX_WAIT, value, &bound, NULL, 0) < 0 && errno == ETIMEDOUT) return false;
    return true;
}

pid_t host_spawn(const struct spawn_request *request, const char **failed_call) {
    static uint8_t *stack;
    struct spawned child_waited, *child = request->early ? &child_early : request->in_cgroup ? &child_in_cgroup : &child_waited;
    if (!stack || request->early) {
        void *mapped = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        *failed_call = "mmap";
        if (mapped == MAP_FAILED) return -1;
        stack = mapped;
    }
    *child = (struct spawned){ .request = request, .parent = getpid(), .procs = -1, .before_exec = 1 };
    sigset_t all, before;
    sigfillset(&all);
    /* No handler of this process may run in the child while it shares its memory. */
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone_child(child, stack);
    int error = errno;
    if (request->early) stack = NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) {
        *failed_call = "clone";
        errno = error;
        return -1;
    }
    if (request->early && request->page) pin_to_other_cpu(pid, request->page);
    if (request->in_cgroup && !executes_soon(child)) {
        stack = NULL;
        return pid;
    }
    if (!request->early && child->failed_call) {
        waitpid(pid, NULL, 0);
        *failed_call = child->failed_call;
        errno = child->error;
        return -1;
    }
    return pid;
}

bool host_early_executes(void) {
    struct spawned *child = &child_early;
    pid_t value;
    while ((value = child->before_exec) != 0) syscall(SYS_futex, &child->before_exec, FUTEX_WAIT, value, NULL, NULL, 0);
    return !child->failed_call;
}
