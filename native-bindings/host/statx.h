/*
 * statx(2) without its header. That of the kernel defines the structure, and musl 1.2.5 defines one of the same name, which lacks the id of the
 * mount: a file can have only one of the two headers. This is the kernel's, under a name that neither has (include/uapi/linux/stat.h).
 */
#ifndef HOST_STATX_H
#define HOST_STATX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    HOST_STATX_INO = 0x100,
    HOST_STATX_MNT_ID = 0x1000,
    /* Linux 6.8. */
    HOST_STATX_MNT_ID_UNIQUE = 0x4000,
};

struct host_statx {
    uint32_t mask;
    uint32_t of_the_file[7];
    uint64_t inode;
    uint64_t of_its_content[3];
    uint64_t times[8];
    uint32_t devices[4];
    uint64_t mount;
    uint64_t later[13];
};
_Static_assert(offsetof(struct host_statx, inode) == 0x20, "stx_ino");
_Static_assert(offsetof(struct host_statx, mount) == 0x90, "stx_mnt_id");
_Static_assert(sizeof(struct host_statx) == 0x100, "struct statx");

static inline long host_statx(int directory, const char *path, int flags, unsigned mask, struct host_statx *result) {
    return syscall(SYS_statx, directory, path, flags, mask, result);
}
#endif
