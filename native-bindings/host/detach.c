/* Go on in a process of an own session, while the caller's waits for its word. */
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child is not reaped before the last signal is handed on: the number is its own. */
static volatile pid_t detached;

static void hand_on(int number) { kill(detached, number); }

/* What ends the caller's process ends the other one, which undoes what it has begun; what the caller ignores stays ignored. */
static void hand_signals_on(pid_t pid) {
    static const int ENDING[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
    struct sigaction action, before;
    detached = pid;
    memset(&action, 0, sizeof(action));
    action.sa_handler = hand_on;
    for (size_t i = 0; i < ARRAY_LENGTH(ENDING); i++)
        if (sigaction(ENDING[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(ENDING[i], &action, NULL);
}

/* The caller's process: ends well when the other one says so, else with its status. */
static _Noreturn void wait_for_word(pid_t pid, int word) {
    char byte;
    ssize_t size;
    do size = read(word, &byte, 1);
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
    /* It ended without a word, whatever it thinks of that. */
    _exit(result == 0 ? 1 : result);
}

HOST_FUNCTION(host_detach) {
    int word[2];
    if (pipe2(word, O_CLOEXEC) < 0) return host_throw(ctx, errno, "pipe2", NULL);
    pid_t pid = fork();
    if (pid < 0) {
        int error = errno;
        close(word[0]);
        close(word[1]);
        return host_throw(ctx, error, "fork", NULL);
    }
    if (pid > 0) {
        hand_signals_on(pid);
        close(word[1]);
        wait_for_word(pid, word[0]);
    }
    close(word[0]);
    setsid();
    return JS_NewInt32(ctx, word[1]);
}
