/*
 * Writing to whoever has called this program, while the signals that end it are blocked: somebody who does not read would keep it for ever. What he has not
 * read after a while is given up when such a signal comes, or has come before; what was begun is undone by then, or is undone after that.
 */
#include "output.h"

#include "error.h"
#include "wait.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* A timer interrupts what waits, again and again: whatever kind of file it is, and also before it is open. */
#define AGAIN_MS 20
/* For a reader who is slow. */
#define PATIENCE_MS 1000

struct limit {
    struct sigaction action;
    sigset_t mask;
    int64_t patient_until;
};

static void interrupt(int number) { (void)number; }

static void set_timer(int milliseconds) {
    const struct itimerval timer = { { 0, milliseconds * 1000 }, { 0, milliseconds * 1000 } };
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void begin(struct limit *limit) {
    struct sigaction action;
    sigset_t alarm;
    memset(&action, 0, sizeof(action));
    action.sa_handler = interrupt;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    limit->patient_until = host_monotonic_ms() + PATIENCE_MS;
    sigaction(SIGALRM, &action, &limit->action);
    sigprocmask(SIG_UNBLOCK, &alarm, &limit->mask);
    set_timer(AGAIN_MS);
}

static void end(const struct limit *limit) {
    int error = errno;
    set_timer(0);
    sigprocmask(SIG_SETMASK, &limit->mask, NULL);
    sigaction(SIGALRM, &limit->action, NULL);
    errno = error;
}

/* errno of what has failed says whether to try again. */
static bool goes_on(const struct limit *limit, struct pollfd *wait) {
    if (errno != EINTR && errno != EAGAIN) return false;
    if (errno == EAGAIN) poll(wait, 1, AGAIN_MS);
    errno = EINTR;
    return host_monotonic_ms() < limit->patient_until || !host_is_asked_to_end();
}

static int write_limited(const struct limit *limit, int fd, const uint8_t *data, size_t length) {
    struct pollfd wait = { .fd = fd, .events = POLLOUT };
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && !goes_on(limit, &wait)) return -1;
        if (put < 0) continue;
        data += put;
        length -= (size_t)put;
    }
    return 0;
}

int host_write_all(int fd, const uint8_t *data, size_t length) {
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) {
            struct pollfd wait = { .fd = fd, .events = POLLOUT };
            host_poll_until(&wait, 1, -1);
            continue;
        }
        if (put < 0) return -1;
        data += put;
        length -= (size_t)put;
    }
    return 0;
}

int host_write_to_caller(int fd, const uint8_t *data, size_t length) {
    struct limit limit;
    if (!host_has_blocked_signals()) return host_write_all(fd, data, length);
    begin(&limit);
    int status = write_limited(&limit, fd, data, length);
    end(&limit);
    return status;
}

int host_append(const char *path, int flags, int mode, const uint8_t *data, size_t length) {
    struct limit limit;
    struct pollfd none = { .fd = -1 };
    int fd, status = -1;
    begin(&limit);
    do fd = open(path, flags, mode);
    while (fd < 0 && goes_on(&limit, &none));
    if (fd >= 0) status = write_limited(&limit, fd, data, length);
    end(&limit);
    if (fd >= 0 && status < 0) host_discard(fd);
    else if (fd >= 0 && close(fd) < 0 && errno != EINTR) status = -1;
    return status;
}
