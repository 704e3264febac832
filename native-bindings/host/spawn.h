#ifndef RUNT_HOST_SPAWN_H
#define RUNT_HOST_SPAWN_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct spawn_request {
    int program_fd; /* execveat of this descriptor, or -1 */
    bool fills;     /* early: the child first fills it with the helper */
    const char *path;
    char *const *argv;
    char *const *envp;
    const int *inherit;
    uint32_t inherit_count;
    const int *stdio; /* three descriptors for 0, 1, 2, or NULL */
    const char *cwd;  /* or NULL */
    bool die_with_parent;
    /* Do not wait for the exec: the request stays as it is for good, and host_early_executes() says what became of it. One a process. */
    bool early;
    /* Of a child that was started early: memory that it shares (native-bindings/shared/spin_wait.h), or NULL. */
    volatile uint32_t *page;
    /* The request stays as it is for good: where the cgroup is frozen the child has not executed when host_spawn returns. One at a time. */
    bool in_cgroup;
    int cgroup; /* with in_cgroup: descriptor of the v2 cgroup directory the process starts in */
};
/* Waits for the exec. Returns the pid, or -1 with errno of the failing call and *failed_call. */
pid_t host_spawn(const struct spawn_request *request, const char **failed_call);
/* Waits for its exec. False: it has failed. */
bool host_early_executes(void);
/* Whether it has had a processor of its own since, and this process its. */
bool host_early_is_not_preempted(void);
/* A peer that went away, and RLIMIT_FSIZE, are errors of write(2), not the end of this process. */
void host_ignore_signals(void);
/* What this program changed for itself goes back to what it was, before an exec. */
void host_reset_signals(void);
/* execveat(2) of this very file, or execve(2) through /proc where that is refused. Returns with errno. */
int host_execute(int fd, char *const *argv, char *const *envp);

#endif
