/* What the client of the daemon needs beside the host module's functions: its promises, two signals, and the program that goes on in its place. */
#include "../host/arguments.h"
#include "../host/error.h"
#include "../program/main.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

HOST_FUNCTION(client_run_jobs) {
    JSContext *job_context;
    int done;
    do done = JS_ExecutePendingJob(JS_GetRuntime(ctx), &job_context);
    while (done > 0);
    return done < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

static sigset_t set_of(const struct int_vector *numbers) {
    sigset_t set;
    sigemptyset(&set);
    for (uint32_t i = 0; i < numbers->count; i++) sigaddset(&set, numbers->items[i]);
    return set;
}

HOST_CALL(client_hold_signals, "I") {
    const sigset_t set = set_of(&a[0].ints);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return host_number(ctx, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd", NULL);
}

HOST_CALL(client_release_signals, "Ii") {
    const sigset_t set = set_of(&a[0].ints);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return host_done(ctx, close(a[1].number), "close", NULL);
}

HOST_CALL(client_execute, "sSi") {
    const int stdin_fd = a[2].number;
    if (stdin_fd >= 0 && (lseek(stdin_fd, 0, SEEK_SET) < 0 || dup2(stdin_fd, 0) < 0)) return host_throw(ctx, errno, "dup2", NULL);
    execve(a[0].text, a[1].strings.items, environ);
    return host_throw(ctx, errno, "execve", a[0].text);
}
