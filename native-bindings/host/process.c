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
static bool one_process(JSContext *ctx, JSValueConst value, const char *call, int *pid) {
    if (!host_int(ctx, value, pid)) return false;
    if (*pid > 0) return true;
    host_throw(ctx, EINVAL, call, NULL);
    return false;
}

HOST_FUNCTION(host_kill) {
    int pid, number;
    if (!one_process(ctx, host_arg(argc, argv, 0), "kill", &pid) || !host_int(ctx, host_arg(argc, argv, 1), &number)) return JS_EXCEPTION;
    return kill(pid, number) < 0 ? host_throw(ctx, errno, "kill", NULL) : JS_UNDEFINED;
}

HOST_FUNCTION(host_pidfd_open) {
    int pid;
    if (!one_process(ctx, host_arg(argc, argv, 0), "pidfd_open", &pid)) return JS_EXCEPTION;
    long fd = syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? host_throw(ctx, errno, "pidfd_open", NULL) : JS_NewInt32(ctx, (int)fd);
}

HOST_FUNCTION(host_pidfd_send_signal) {
    int pidfd, number;
    if (!host_int(ctx, host_arg(argc, argv, 0), &pidfd) || !host_int(ctx, host_arg(argc, argv, 1), &number)) return JS_EXCEPTION;
    return syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) < 0 ? host_throw(ctx, errno, "pidfd_send_signal", NULL) : JS_UNDEFINED;
}

HOST_FUNCTION(host_waitpid) {
    int pid, options, status;
    if (!host_int(ctx, host_arg(argc, argv, 0), &pid) || !host_int(ctx, host_arg(argc, argv, 1), &options)) return JS_EXCEPTION;
    pid_t ended;
    /* __WALL: before its execve init may have no exit signal. */
    do ended = waitpid(pid, &status, options | __WALL);
    while (ended < 0 && errno == EINTR);
    if (ended == 0 || (ended < 0 && errno == ECHILD)) return JS_UNDEFINED;
    if (ended < 0) return host_throw(ctx, errno, "waitpid", NULL);
    JSValue object = JS_NewObject(ctx);
    host_set(ctx, object, "pid", JS_NewInt32(ctx, ended));
    host_set(ctx, object, "status", JS_NewInt32(ctx, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)));
    return object;
}

HOST_FUNCTION(host_set_child_subreaper) {
    unsigned long on = JS_ToBool(ctx, host_arg(argc, argv, 0)) > 0;
    return prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0) < 0 ? host_throw(ctx, errno, "prctl", NULL) : JS_UNDEFINED;
}

HOST_FUNCTION(host_prlimit) {
    int pid, resource;
    uint64_t limits[2]; /* struct rlimit64 of the kernel */
    if (!one_process(ctx, host_arg(argc, argv, 0), "prlimit", &pid) || !host_int(ctx, host_arg(argc, argv, 1), &resource) ||
        !host_u64(ctx, host_arg(argc, argv, 2), &limits[0]) || !host_u64(ctx, host_arg(argc, argv, 3), &limits[1]))
        return JS_EXCEPTION;
    return syscall(SYS_prlimit64, pid, resource, limits, NULL) < 0 ? host_throw(ctx, errno, "prlimit", NULL) : JS_UNDEFINED;
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
