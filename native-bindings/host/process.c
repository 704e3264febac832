/* This process and others: identity, signals, waiting, limits, time. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

HOST_FUNCTION(host_getpid) { return JS_NewInt32(ctx, getpid()); }

HOST_FUNCTION(host_getppid) { return JS_NewInt32(ctx, getppid()); }

HOST_FUNCTION(host_geteuid) { return JS_NewUint32(ctx, geteuid()); }

HOST_FUNCTION(host_getegid) { return JS_NewUint32(ctx, getegid()); }

/*
 * The number of one process. The kernel takes others: 0 is this process or its group, -1 is everybody, and others below 0 are groups. None of them
 * is ever meant here, and 0 is how the kernel lists a process of another PID namespace. False: an exception is pending.
 */
static bool is_one_process(JSContext *ctx, int pid, const char *call) {
    if (pid <= 0) host_throw(ctx, EINVAL, call, NULL);
    return pid > 0;
}

HOST_CALL(host_kill, "ii") {
    return is_one_process(ctx, a[0].number, "kill") ? host_done(ctx, kill(a[0].number, a[1].number), "kill", NULL) : JS_EXCEPTION;
}

HOST_CALL(host_pidfd_open, "i") {
    if (!is_one_process(ctx, a[0].number, "pidfd_open")) return JS_EXCEPTION;
    return host_number(ctx, syscall(SYS_pidfd_open, a[0].number, 0), "pidfd_open", NULL);
}

HOST_CALL(host_pidfd_send_signal, "ii") {
    return host_done(ctx, syscall(SYS_pidfd_send_signal, a[0].number, a[1].number, NULL, 0), "pidfd_send_signal", NULL);
}

HOST_CALL(host_waitpid, "ii") {
    int status;
    pid_t ended;
    /* __WALL: before its execve init may have no exit signal. */
    do ended = waitpid(a[0].number, &status, a[1].number | __WALL);
    while (ended < 0 && errno == EINTR);
    if (ended == 0 || (ended < 0 && errno == ECHILD)) return JS_UNDEFINED;
    if (ended < 0) return host_throw(ctx, errno, "waitpid", NULL);
    JSValue object = JS_NewObject(ctx);
    host_set(ctx, object, "pid", JS_NewInt32(ctx, ended));
    host_set(ctx, object, "status", JS_NewInt32(ctx, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)));
    return object;
}

HOST_CALL(host_set_child_subreaper, "o") {
    return host_done(ctx, prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)a[0].truth, 0, 0, 0), "prctl", NULL);
}

HOST_CALL(host_prlimit, "iiqq") {
    if (!is_one_process(ctx, a[0].number, "prlimit")) return JS_EXCEPTION;
    const uint64_t limits[2] = { a[2].wide, a[3].wide }; /* struct rlimit64 of the kernel */
    return host_done(ctx, syscall(SYS_prlimit64, a[0].number, a[1].number, limits, NULL), "prlimit", NULL);
}

HOST_FUNCTION(host_now) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    JSValue object = JS_NewObject(ctx);
    host_set(ctx, object, "seconds", JS_NewInt64(ctx, time.tv_sec));
    host_set(ctx, object, "nanoseconds", JS_NewInt64(ctx, time.tv_nsec));
    return object;
}

HOST_FUNCTION(host_sleep) {
    double milliseconds;
    if (JS_ToFloat64(ctx, &milliseconds, host_arg(argc, argv, 0)) < 0) return JS_EXCEPTION;
    if (!(milliseconds >= 0 && milliseconds <= 1e12)) return JS_ThrowRangeError(ctx, "not a time span");
    struct timespec left = { (time_t)(milliseconds / 1000), 0 };
    left.tv_nsec = (long)((milliseconds - (double)left.tv_sec * 1000) * 1e6);
    while (nanosleep(&left, &left) < 0 && errno == EINTR) continue;
    return JS_UNDEFINED;
}

HOST_FUNCTION(host_effective_capabilities) {
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) < 0) return host_throw(ctx, errno, "capget", NULL);
    return JS_NewBigUint64(ctx, (uint64_t)data[1].effective << 32 | data[0].effective);
}

HOST_FUNCTION(host_kernel_release) {
    struct utsname name;
    return uname(&name) < 0 ? host_throw(ctx, errno, "uname", NULL) : JS_NewString(ctx, name.release);
}
