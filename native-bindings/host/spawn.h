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
    bool has_user; /* becomes this user, of the group with the same number and no others, for good */
    int user;
    /* Do not wait for the exec. The request must never change, and host_early_executes() tells the result. Only one child of a process may be so. */
    bool early;
    /* Memory that a child that was started early shares with this process (native-bindings/shared/spin_wait.h), or NULL. */
    volatile uint32_t *page;
    /* The request must never change: in a frozen cgroup the child has not executed when host_spawn returns. Only one at a time. */
    bool in_cgroup;
    int cgroup; /* with in_cgroup: descriptor of the v2 cgroup directory the process starts in */
};
/* Waits for the exec. Returns the pid, or -1 with errno of the failing call and *failed_call. */
pid_t host_spawn(const struct spawn_request *request, const char **failed_call);
/* Waits for the exec of the child that was started early. False: it has failed. */
bool host_early_executes(void);
/* Whether neither that child nor this process was preempted since. */
bool host_early_is_not_preempted(void);
/* Ignores SIGPIPE and SIGXFSZ: a peer that has ended and RLIMIT_FSIZE are errors of write(2), not the end of this process. */
void host_ignore_signals(void);
/* Undoes, before an exec, what this program has changed for itself. */
void host_reset_signals(void);
/* execveat(2) of this very file, or execve(2) through /proc where that is refused. Returns with errno. */
int host_execute(int fd, char *const *argv, char *const *envp);

#endif
