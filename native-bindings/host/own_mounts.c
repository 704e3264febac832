/* A temporary mount namespace for this process: its mounts end with the last process in it, and the host never sees them. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

/* Mounts made here do not propagate to the host; mounts of the host still arrive. */
static const char *make_mountpoint(const char *path) {
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 || mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0) return "mount";
    return NULL;
}

/* setns(2) moves the working directory to the root, so it is set back. */
static const char *go_to(int namespace) {
    int directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *call = setns(namespace, CLONE_NEWNS) < 0 ? "setns" : NULL;
    if (directory < 0) return call;
    if (!call && fchdir(directory) < 0) call = "fchdir";
    int error = errno;
    close(directory);
    errno = error;
    return call;
}

HOST_FUNCTION(host_enter_own_mounts) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    const char *call = "open";
    int former = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    if (former >= 0) call = unshare(CLONE_NEWNS) < 0 ? "unshare" : make_mountpoint(path);
    int error = errno;
    if (former >= 0 && call) {
        setns(former, CLONE_NEWNS);
        close(former);
    }
    JSValue result = call ? host_throw(ctx, error, call, path) : JS_NewInt32(ctx, former);
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_leave_own_mounts) {
    int former;
    if (!host_int(ctx, host_arg(argc, argv, 0), &former)) return JS_EXCEPTION;
    const char *call = go_to(former);
    int error = errno;
    close(former);
    return call ? host_throw(ctx, error, call, NULL) : JS_UNDEFINED;
}
