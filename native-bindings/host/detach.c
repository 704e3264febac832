/* Go on in a child with a session of its own, while this process waits until the child says that it may end. */
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child is reaped only after the last signal was passed on, so the number is always the child's. */
static volatile pid_t detached;

static void hand_on(int number) { kill(detached, number); }

/* Signals that end this process are passed on to the child, which undoes what it has begun. Ignored signals stay ignored. */
static void hand_signals_on(pid_t pid) {
    static const int ENDING[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
    struct sigaction action, before;
    detached = pid;
    memset(&action, 0, sizeof(action));
    action.sa_handler = hand_on;
    for (size_t i = 0; i < ARRAY_LENGTH(ENDING); i++)
        if (sigaction(ENDING[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(ENDING[i], &action, NULL);
}

/* Ends with 0 when the child says so, else with the status of the child. */
static _Noreturn void wait_for_child(pid_t pid, int said) {
    char byte;
    ssize_t size;
    do size = read(said, &byte, 1);
    while (size < 0 && errno == EINTR);
    if (size == 1) _exit(0);
    siginfo_t info;
    int left;
    do left = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    while (left < 0 && errno == EINTR);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    int status = 0;
    pid_t ended = waitpid(pid, &status, 0);
    int result = ended != pid ? 1 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    /* The child ended without saying so: that is a failure, also with status 0. */
    _exit(result == 0 ? 1 : result);
}

HOST_FUNCTION(host_detach) {
    int said[2];
    if (pipe2(said, O_CLOEXEC) < 0) return host_throw(ctx, errno, "pipe2", NULL);
    pid_t pid = fork();
    if (pid < 0) {
        host_discard(said[0]);
        return host_done(ctx, host_discard(said[1]), "fork", NULL);
    }
    if (pid > 0) {
        hand_signals_on(pid);
        close(said[1]);
        wait_for_child(pid, said[0]);
    }
    close(said[0]);
    setsid();
    return JS_NewInt32(ctx, said[1]);
}
