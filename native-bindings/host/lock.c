/* flock(2), at once or within a time. A waiting process keeps its place in the queue. */
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "wait.h"

#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>

/* The signal may come before the wait has begun, so the timer repeats it. */
#define AGAIN_MS 20

static void interrupt(int number) { (void)number; }

static int flock_within(int fd, int operation, int timeout_ms) {
    const struct itimerval none = { { 0, 0 }, { 0, 0 } };
    const struct itimerval timer = { { 0, AGAIN_MS * 1000 }, { timeout_ms / 1000, timeout_ms % 1000 * 1000 } };
    struct sigaction action, before;
    sigset_t alarm, mask;
    memset(&action, 0, sizeof(action));
    action.sa_handler = interrupt;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    const int64_t end = host_monotonic_ms() + timeout_ms;
    sigaction(SIGALRM, &action, &before);
    sigprocmask(SIG_UNBLOCK, &alarm, &mask);
    setitimer(ITIMER_REAL, &timer, NULL);
    int status;
    do status = flock(fd, operation);
    while (status < 0 && errno == EINTR && host_monotonic_ms() < end);
    int error = errno;
    setitimer(ITIMER_REAL, &none, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGALRM, &before, NULL);
    errno = error == EINTR ? EWOULDBLOCK : error;
    return status;
}

HOST_CALL(host_flock, "ii?i") {
    const int fd = a[0].number, operation = a[1].number, timeout_ms = a[2].number;
    int status;
    do status = flock(fd, a[2].is_given ? operation | LOCK_NB : operation);
    while (status < 0 && errno == EINTR);
    if (status < 0 && errno == EWOULDBLOCK && timeout_ms > 0) status = flock_within(fd, operation, timeout_ms);
    if (status < 0 && errno == EWOULDBLOCK) return JS_FALSE;
    return status < 0 ? host_throw(ctx, errno, "flock", NULL) : JS_TRUE;
}
