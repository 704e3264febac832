/* A directory bound on itself. The identity of the clone is read before it is attached, and the mount is removed by its identity, not by its path. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* include/uapi/linux/mount.h, linux/stat.h: headers of Linux 6.1 do not have all of them. */
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#define MOVE_MOUNT_F_EMPTY_PATH 0x04
#define MOVE_MOUNT_T_EMPTY_PATH 0x40
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#define MNT_ID_UNIQUE 0x4000U

HOST_FUNCTION(host_clone_mount) {
    int directory;
    if (!host_int(ctx, host_arg(argc, argv, 0), &directory)) return JS_EXCEPTION;
    long fd = syscall(SYS_open_tree, directory, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
    return fd < 0 ? host_throw(ctx, errno, "open_tree", NULL) : JS_NewInt32(ctx, (int)fd);
}

HOST_FUNCTION(host_attach_mount) {
    int mount, onto;
    if (!host_int(ctx, host_arg(argc, argv, 0), &mount) || !host_int(ctx, host_arg(argc, argv, 1), &onto)) return JS_EXCEPTION;
    long status = syscall(SYS_move_mount, mount, "", onto, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    return status < 0 ? host_throw(ctx, errno, "move_mount", NULL) : JS_UNDEFINED;
}

/* Linux 6.8 gives the unique id, if asked for it, in the place of the other id. */
HOST_FUNCTION(host_mount_ids) {
    int fd;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    struct statx plain, unique;
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &plain) < 0 ||
        syscall(SYS_statx, fd, "", AT_EMPTY_PATH, MNT_ID_UNIQUE, &unique) < 0) {
        return host_throw(ctx, errno, "statx", NULL);
    }
    if (!(plain.stx_mask & STATX_MNT_ID)) return host_throw(ctx, ENOSYS, "statx", NULL);
    JSValue ids = JS_NewObject(ctx);
    if (JS_IsException(ids)) return ids;
    host_set(ctx, ids, "id", JS_NewInt64(ctx, (int64_t)plain.stx_mnt_id));
    if (unique.stx_mask & MNT_ID_UNIQUE) host_set(ctx, ids, "unique", JS_NewBigUint64(ctx, unique.stx_mnt_id));
    return ids;
}

HOST_FUNCTION(host_detach_mount) {
    int fd;
    if (!host_int(ctx, host_arg(argc, argv, 0), &fd)) return JS_EXCEPTION;
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return umount2(path, MNT_DETACH) < 0 ? host_throw(ctx, errno, "umount2", path) : JS_UNDEFINED;
}
