/* Start a process without copying this one: clone(CLONE_VM|CLONE_VFORK), the child only makes system calls until its exec. */
#include "host.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_STACK ((size_t)64 << 10)
#define STDIO 3

struct child {
    const struct spawn_request *request;
    pid_t parent;
    /* Written by the child, read by the parent: they share memory. */
    int error;
    const char *failed_call;
};

void host_reset_signals(void) {
    struct sigaction standard;
    memset(&standard, 0, sizeof(standard));
    standard.sa_handler = SIG_DFL;
    /* What the caller of this program ignores stays ignored, as execve(2) has it. */
    sigaction(SIGPIPE, &standard, NULL);
}

static int keep_open(int fd) {
    int flags = fcntl(fd, F_GETFD);
    return flags < 0 ? -1 : fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
}

static int place_stdio(const int *stdio) {
    int source[STDIO];
    for (int i = 0; i < STDIO; i++) {
        /* Out of the way first, so that no dup2 overwrites a source that is still needed. */
        source[i] = fcntl(stdio[i], F_DUPFD_CLOEXEC, STDIO);
        if (source[i] < 0) return -1;
    }
    for (int i = 0; i < STDIO; i++)
        if (dup2(source[i], i) < 0) return -1;
    return 0;
}

static int fail(struct child *child, const char *call) {
    child->error = errno;
    child->failed_call = call;
    _exit(127);
}

static int child_main(void *opaque) {
    struct child *child = opaque;
    const struct spawn_request *request = child->request;
    if (request->die_with_parent) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) return fail(child, "prctl");
        if (getppid() != child->parent) _exit(127);
    }
    host_reset_signals();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (request->stdio && place_stdio(request->stdio) < 0) return fail(child, "dup2");
    for (uint32_t i = 0; i < request->inherit_count; i++)
        if (keep_open(request->inherit[i]) < 0) return fail(child, "fcntl");
    if (request->program_fd >= 0) {
        syscall(SYS_execveat, request->program_fd, "", request->argv, request->envp, AT_EMPTY_PATH);
        return fail(child, "execveat");
    }
    execve(request->path, request->argv, request->envp);
    return fail(child, "execve");
}

pid_t host_spawn(const struct spawn_request *request, const char **failed_call) {
    static uint8_t *stack;
    if (!stack) {
        void *mapped = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        *failed_call = "mmap";
        if (mapped == MAP_FAILED) return -1;
        stack = mapped;
    }
    struct child child = { .request = request, .parent = getpid() };
    sigset_t all, before;
    sigfillset(&all);
    /* No handler of this process may run in the child while it shares its memory. */
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(child_main, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) {
        *failed_call = "clone";
        errno = error;
        return -1;
    }
    if (child.failed_call) {
        waitpid(pid, NULL, 0);
        *failed_call = child.failed_call;
        errno = child.error;
        return -1;
    }
    return pid;
}
