/* Looking into a root file system, which is hostile: no link leads out of it. */
#include "../shared/inroot.h"
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_MAX (1 << 20)
/* EAGAIN: something was renamed during the lookup. The number of attempts is bounded, because an attacker could go on renaming. */
#define RACE_TRIES 128

static int open_by_kernel(int root, const char *path, int flags) {
    struct open_how how = { .flags = (uint64_t)(uint32_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    int fd = -1;
    for (int i = 0; fd < 0 && i < RACE_TRIES; i++) {
        fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
        if (fd < 0 && errno != EAGAIN && errno != EINTR) break;
    }
    return fd < 0 ? -errno : fd;
}

/* The same with a descriptor of the file itself, as the walk gives it: opened anew for anything but O_PATH. */
static int open_found(int found, int flags) {
    struct stat info;
    if (fstat(found, &info) < 0) return -errno;
    if ((flags & O_DIRECTORY) && !S_ISDIR(info.st_mode)) return -ENOTDIR;
    if (flags & O_PATH) return found;
    if (S_ISLNK(info.st_mode)) return -ELOOP;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", found);
    int fd = open(path, (flags & ~O_NOFOLLOW) | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int open_by_walk(int root, const char *path, int flags) {
    int found = inroot_walk(root, path, flags & O_NOFOLLOW ? INROOT_NO_FOLLOW : 0, INROOT_EXISTING, 0);
    if (found < 0) return found;
    int fd = open_found(found, flags);
    if (fd != found) close(found);
    return fd;
}

HOST_CALL(host_open_in_root, "isi") {
    const int root = a[0].number, flags = a[2].number;
    const char *path = a[1].text;
    int fd = open_by_kernel(root, path, flags);
    if (fd == -ENOSYS || fd == -EPERM || fd == -EAGAIN) fd = open_by_walk(root, path, flags);
    return fd < 0 ? host_throw(ctx, -fd, "openat2", path) : JS_NewInt32(ctx, fd);
}

HOST_CALL(host_pread, "iqi") {
    const uint64_t offset = a[1].wide;
    const uint32_t length = a[2].bits;
    if (length > READ_MAX) return host_throw(ctx, EINVAL, "pread", NULL);
    uint8_t *data = js_malloc(ctx, length > 0 ? length : 1);
    if (!data) return JS_EXCEPTION;
    size_t used = 0;
    ssize_t got = 1;
    while (used < length && got != 0) {
        got = pread(a[0].number, data + used, length - used, (off_t)(offset + used));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        used += (size_t)got;
    }
    JSValue result = got < 0 ? host_throw(ctx, errno, "pread", NULL) : JS_NewArrayBufferCopy(ctx, data, used);
    js_free(ctx, data);
    return result;
}
