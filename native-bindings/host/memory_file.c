#include "memory_file.h"

#include "function.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

int unnamed_file(int flags, mode_t mode, int (*prepare)(int fd)) {
    const char *directories[] = { getenv("XDG_RUNTIME_DIR"), "/run", "/dev/shm", "/tmp", "/var/tmp" };
    int fd = -1;
    errno = ENOENT;
    for (size_t i = 0; i < ARRAY_LENGTH(directories) && fd < 0; i++) {
        if (!directories[i]) continue;
        fd = open(directories[i], O_TMPFILE | O_CLOEXEC | flags, mode);
        if (fd >= 0 && prepare) fd = prepare(fd);
    }
    return fd;
}

int memory_file(const char *name, unsigned flags) {
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
    if (fd >= 0 || errno == EINVAL) return fd;
    const int first = errno;
    fd = unnamed_file(O_RDWR | O_EXCL, 0600, NULL);
    if (fd < 0) errno = first;
    return fd;
}

int memory_file_seal(int fd, int seals) {
    const int present = fcntl(fd, F_GET_SEALS);
    /* EINVAL: the file system has no seals. On a tmpfs every file but a memfd begins with F_SEAL_SEAL. Source: mm/shmem.c. */
    if (present < 0 ? errno == EINVAL : (present & F_SEAL_SEAL) != 0) return 0;
    return fcntl(fd, F_ADD_SEALS, seals);
}
