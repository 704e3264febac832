/* A directory bound on itself. The identity of the clone is read before it is attached, and the mount is removed by its identity, not by its path. */
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "statx.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* include/uapi/linux/mount.h: headers of Linux 6.1 do not have all of them. */
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#define MOVE_MOUNT_F_EMPTY_PATH 0x04
#define MOVE_MOUNT_T_EMPTY_PATH 0x40
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

HOST_CALL(host_clone_mount, "i") {
    const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE;
    return host_number(ctx, syscall(SYS_open_tree, a[0].number, "", flags), "open_tree", NULL);
}

HOST_CALL(host_attach_mount, "ii") {
    const unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
    return host_done(ctx, syscall(SYS_move_mount, a[0].number, "", a[1].number, "", flags), "move_mount", NULL);
}

/* Linux 6.8 gives the unique id, if asked for it, in the place of the other id. */
HOST_CALL(host_mount_ids, "i") {
    struct host_statx plain, unique;
    if (host_statx(a[0].number, "", AT_EMPTY_PATH, HOST_STATX_MNT_ID, &plain) < 0 ||
        host_statx(a[0].number, "", AT_EMPTY_PATH, HOST_STATX_MNT_ID_UNIQUE, &unique) < 0) {
        return host_throw(ctx, errno, "statx", NULL);
    }
    if (!(plain.mask & HOST_STATX_MNT_ID)) return host_throw(ctx, ENOSYS, "statx", NULL);
    JSValue ids = JS_NewObject(ctx);
    if (JS_IsException(ids)) return ids;
    host_set(ctx, ids, "id", JS_NewInt64(ctx, (int64_t)plain.mount));
    if (unique.mask & HOST_STATX_MNT_ID_UNIQUE) host_set(ctx, ids, "unique", JS_NewBigUint64(ctx, unique.mount));
    return ids;
}

HOST_CALL(host_detach_mount, "i") {
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", a[0].number);
    return host_done(ctx, umount2(path, MNT_DETACH), "umount2", path);
}
