/* Go on in a process of an own session, while the caller's waits for its word. */
#include "host.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The caller's process: ends well when the other one says so, else with its status. */
static _Noreturn void wait_for_word(pid_t pid, int word) {
    char byte;
    ssize_t size;
    do size = read(word, &byte, 1);
    while (size < 0 && errno == EINTR);
    if (size == 1) _exit(0);
    int status = 0;
    pid_t ended;
    do ended = waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    int result = ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    /* It ended without a word, whatever it thinks of that. */
    _exit(result == 0 ? 1 : result);
}

HOST_FUNCTION(host_detach) {
    (void)this_value;
    (void)argc;
    (void)argv;
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
        close(word[1]);
        wait_for_word(pid, word[0]);
    }
    close(word[0]);
    setsid();
    return JS_NewInt32(ctx, word[1]);
}
