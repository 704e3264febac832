/*
 * Where the embedded helper is executed from. It becomes a process inside a container, which can open its /proc/self/exe:
 * that file must not be writable and must not be a file of the host (CVE-2019-5736).
 *
 * 1. A memfd sealed against every change: the normal case.
 * 2. Where executable memfds are refused (vm.memfd_noexec=2, security modules): a file on a private detached tmpfs that is
 *    made read-only before the exec; opening it for writing gives EROFS. Needs CAP_SYS_ADMIN in the mount namespace's owner.
 * 3. Rootless with neither: a file without a name, made for this one start. It can be changed by the user who owns it, but
 *    nothing else ever runs it.
 */
#include "executable.h"

#include "error.h"
#include "function.h"
#include "memory_file.h"
#include "output.h"

#include "../shared/raw.h"
#include "../testing/disabled_defences.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3 */
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x0020 /* Linux 6.3 */
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 0x0001
#define F_SEAL_SHRINK 0x0002
#define F_SEAL_GROW 0x0004
#define F_SEAL_WRITE 0x0008
#endif
#define HELPER_NAME "runt-init"

static int write_helper(int fd) { return host_write_all(fd, helper_start, (size_t)(helper_end - helper_start)); }

static const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

int helper_empty_memfd(void) {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create(HELPER_NAME, flags | MFD_EXEC);
    return fd < 0 && errno == EINVAL ? memfd_create(HELPER_NAME, flags) : fd;
}

bool helper_fill_beside(int fd) {
    const uint8_t *at = helper_start;
    while (at < helper_end) {
        long written = raw_call(SYS_write, fd, (long)at, helper_end - at, 0, 0);
        if (written <= 0 && written != -EINTR) return false;
        if (written > 0) at += written;
    }
    long result = raw_call(SYS_fcntl, fd, F_ADD_SEALS, seals | F_SEAL_EXEC, 0, 0);
    return (result == -EINVAL ? raw_call(SYS_fcntl, fd, F_ADD_SEALS, seals, 0, 0) : result) == 0;
}

static int sealed_memfd(void) {
    int fd = helper_empty_memfd();
    if (fd < 0) return -1;
    if (write_helper(fd) < 0) return host_discard(fd);
    if (fcntl(fd, F_ADD_SEALS, seals | F_SEAL_EXEC) < 0 && (errno != EINVAL || fcntl(fd, F_ADD_SEALS, seals) < 0)) return host_discard(fd);
    return fd;
}

/* The file opened for writing must be closed before the exec (ETXTBSY), so a second descriptor is made for it. */
static int reopen_readonly(int mount, int written) {
    if (write_helper(written) < 0) return host_discard(written);
    close(written);
    return openat(mount, HELPER_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static int detached_tmpfs(void) {
    int context = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
    if (context < 0) return -1;
    if (syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "mode", "0700", 0) < 0 ||
        syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return host_discard(context);
    int mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    host_discard(context);
    if (mount < 0) return -1;
    int written = openat(mount, HELPER_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    int fd = written < 0 ? -1 : reopen_readonly(mount, written);
    struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };
    if (fd >= 0 && syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &attributes, sizeof(attributes)) < 0) fd = host_discard(fd);
    host_discard(mount);
    return fd;
}

/* Written and opened again for reading only. A noexec mount takes the file but not its execution. */
static int executable_copy(int written) {
    if (write_helper(written) < 0) return host_discard(written);
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", written);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    host_discard(written);
    if (fd >= 0 && syscall(SYS_faccessat2, fd, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0 && errno == EACCES) fd = host_discard(fd);
    return fd;
}

/* For the test build with this defence disabled: a file of the host that every start uses. */
static int shared_file(void) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(HELPER_NAME) - 1);
    while (length > 0 && path[length - 1] != '/') length--;
    if (length <= 0) return -1;
    memcpy(path + length, HELPER_NAME, sizeof(HELPER_NAME));
    return open(path, O_RDONLY | O_CLOEXEC);
}

int helper_open(enum helper_source source) {
    if (DEFENCE_DISABLED(self_exe)) return shared_file();
    switch (source) {
    case HELPER_SEALED_MEMFD: return sealed_memfd();
    case HELPER_DETACHED_TMPFS: return detached_tmpfs();
    default: return unnamed_file(O_WRONLY, 0500, executable_copy);
    }
}
