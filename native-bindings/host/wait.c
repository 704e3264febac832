/* Waiting, and the signals that end it. */
#include "wait.h"

#include "arguments.h"
#include "error.h"
#include "function.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* The signals by which people and service managers end a program. */
static const int ENDING[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
/* Signals are looked for only after a wait of this length: a short wait costs nothing more. */
#define SOON_MS 20
/* Descriptors of one wait with signals; more are waited for without. */
#define POLL_MOST 15

static struct {
    /* The mask before they were blocked. */
    sigset_t before;
    bool blocked, ends_waits;
    /* A signalfd, opened when the waits together have lasted SOON_MS; -1 until then. */
    int fd;
    int waited_ms;
    int ended_by;
} signals = { .fd = -1 };

int64_t host_monotonic_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

HOST_FUNCTION(host_monotonic) { return JS_NewInt64(ctx, host_monotonic_ms()); }

HOST_FUNCTION(host_block_signals) {
    sigset_t all, before;
    sigfillset(&all);
    if (sigprocmask(SIG_SETMASK, &all, &before) < 0) return host_throw(ctx, errno, "sigprocmask", NULL);
    if (!signals.blocked) signals.before = before;
    signals.blocked = true;
    return JS_UNDEFINED;
}

HOST_FUNCTION(host_unblock_signals) {
    signals.ends_waits = false;
    if (signals.blocked && sigprocmask(SIG_SETMASK, &signals.before, NULL) < 0) return host_throw(ctx, errno, "sigprocmask", NULL);
    signals.blocked = false;
    return JS_UNDEFINED;
}

HOST_CALL(host_end_waits_by_signal, "o") {
    signals.ends_waits = a[0].truth;
    return JS_UNDEFINED;
}

HOST_FUNCTION(host_ending_signal) { return JS_NewInt32(ctx, signals.ended_by); }

bool host_has_blocked_signals(void) { return signals.blocked; }

static bool is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool host_is_asked_to_end(void) {
    sigset_t pending;
    if (signals.ended_by != 0) return true;
    if (sigpending(&pending) < 0) return false;
    for (size_t i = 0; i < ARRAY_LENGTH(ENDING); i++)
        if (sigismember(&pending, ENDING[i]) == 1 && !is_ignored(ENDING[i])) return true;
    return false;
}

static int open_signals(void) {
    sigset_t ending;
    sigemptyset(&ending);
    for (size_t i = 0; i < ARRAY_LENGTH(ENDING); i++) sigaddset(&ending, ENDING[i]);
    return signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* What the caller of this program ignores (nohup(1), jobs in the background) stays pending while it is blocked, and is ignored here. */
static bool take_signal(void) {
    struct signalfd_siginfo info;
    if (read(signals.fd, &info, sizeof(info)) != sizeof(info)) return false;
    if (is_ignored((int)info.ssi_signo)) return false;
    signals.ended_by = (int)info.ssi_signo;
    /* A wait that is over is not ended by a signal. */
    signals.ends_waits = false;
    return true;
}

/* poll(2), which goes on after a signal that does not end waits. */
static int poll_on(struct pollfd *fds, unsigned long count, int timeout_ms) {
    int64_t end = timeout_ms > 0 ? host_monotonic_ms() + timeout_ms : 0;
    for (;;) {
        int ready = poll(fds, count, timeout_ms);
        if (ready >= 0 || errno != EINTR) return ready;
        if (timeout_ms <= 0) continue;
        int64_t left = end - host_monotonic_ms();
        timeout_ms = left < 0 ? 0 : (int)left;
    }
}

/*
 * The other side has closed: init by execve, a hook by its end. That comes before a signal, which stays pending. Otherwise a
 * signal to a program that has just begun would end it with the words that it never began.
 */
static bool has_hung_up(const struct pollfd *fds, unsigned long count) {
    for (unsigned long i = 0; i < count; i++)
        if (fds[i].revents & POLLHUP) return true;
    return false;
}

static int poll_with_signals(struct pollfd *fds, unsigned long count, int timeout_ms) {
    struct pollfd all[POLL_MOST + 1];
    int64_t end = timeout_ms > 0 ? host_monotonic_ms() + timeout_ms : 0;
    if (count > POLL_MOST) return poll_on(fds, count, timeout_ms);
    memcpy(all, fds, count * sizeof(*fds));
    for (;;) {
        all[count] = (struct pollfd){ .fd = signals.fd, .events = POLLIN };
        int ready = poll_on(all, count + 1, timeout_ms);
        if (ready > 0 && all[count].revents && !has_hung_up(all, count) && take_signal()) {
            errno = EINTR;
            return -1;
        }
        if (ready <= 0 || ready > (all[count].revents != 0)) {
            memcpy(fds, all, count * sizeof(*fds));
            return ready <= 0 ? ready : ready - (all[count].revents != 0);
        }
        if (timeout_ms <= 0) continue;
        int64_t left = end - host_monotonic_ms();
        timeout_ms = left < 0 ? 0 : (int)left;
    }
}

int host_poll_until(struct pollfd *fds, unsigned long count, int timeout_ms) {
    if (!signals.ends_waits || timeout_ms == 0) return poll_on(fds, count, timeout_ms);
    if (signals.fd < 0) {
        int soon = timeout_ms < 0 || timeout_ms > SOON_MS ? SOON_MS : timeout_ms;
        int ready = signals.waited_ms < SOON_MS ? poll_on(fds, count, soon) : 0;
        if (ready != 0) return ready;
        if (signals.waited_ms < SOON_MS) {
            signals.waited_ms += soon;
            if (timeout_ms > 0 && (timeout_ms -= soon) == 0) return 0;
        }
        signals.fd = open_signals();
        if (signals.fd < 0) return poll_on(fds, count, timeout_ms);
    }
    return poll_with_signals(fds, count, timeout_ms);
}
