/* A temporary mount namespace for this process: its mounts end with the last process in it, and the host never sees them. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
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
    host_discard(directory);
    return call;
}

HOST_CALL(host_enter_own_mounts, "s") {
    const char *call = "open";
    int former = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    if (former >= 0) call = unshare(CLONE_NEWNS) < 0 ? "unshare" : make_mountpoint(a[0].text);
    if (!call) return JS_NewInt32(ctx, former);
    JSValue result = host_throw(ctx, errno, call, a[0].text);
    if (former >= 0) setns(former, CLONE_NEWNS);
    host_discard(former);
    return result;
}

HOST_CALL(host_leave_own_mounts, "i") {
    const char *call = go_to(a[0].number);
    host_discard(a[0].number);
    return call ? host_throw(ctx, errno, call, NULL) : JS_UNDEFINED;
}

/* Flags of a mount that have the same bits in statvfs(3) and mount(2). */
#define KEPT (ST_NOSUID | ST_NODEV | ST_NOEXEC | ST_NOATIME | ST_NODIRATIME)

/* The root of the namespace, with what lies on it: setns(2) and unshare(2) make that the root of this process. */
static const char *make_readonly(void) {
    struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attributes, sizeof attributes) == 0) return NULL;
    if (errno != ENOSYS) return "mount_setattr";
    struct statvfs now;
    if (statvfs("/", &now) < 0) return "statvfs";
    unsigned long flags = (now.f_flag & KEPT) | (now.f_flag & ST_RELATIME ? MS_RELATIME : 0);
    return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL) < 0 ? "mount" : NULL;
}

HOST_CALL(host_make_root_readonly, "s") {
    const char *call = "open";
    int former = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int namespace = open(a[0].text, O_RDONLY | O_CLOEXEC);
    if (former >= 0 && directory >= 0 && namespace >= 0) call = setns(namespace, CLONE_NEWNS) < 0 ? "setns" : make_readonly();
    JSValue result = call ? host_throw(ctx, errno, call, a[0].text) : JS_UNDEFINED;
    /* Not to be in the mounts of the container any more matters more than what has failed in them. */
    if (former >= 0 && directory >= 0 && (setns(former, CLONE_NEWNS) < 0 || fchdir(directory) < 0)) {
        JS_FreeValue(ctx, result);
        result = host_throw(ctx, errno, "setns", "/proc/self/ns/mnt");
    }
    host_discard(former);
    host_discard(directory);
    host_discard(namespace);
    return result;
}
