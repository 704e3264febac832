/* A file without a name that only processes with its descriptor have. */
#ifndef RUNT_HOST_MEMORY_FILE_H
#define RUNT_HOST_MEMORY_FILE_H
#include <sys/types.h>

/*
 * memfd_create(2) with MFD_CLOEXEC, MFD_ALLOW_SEALING and `flags`. Where the call is refused or absent: a file without a name on a file system of
 * the host, which cannot be sealed. -1 and errno; EINVAL means that this kernel does not know one of the flags.
 */
int memory_file(const char *name, unsigned flags);
/* F_ADD_SEALS of fcntl(2). 0 also for a file that cannot be sealed. -1 and errno. */
int memory_file_seal(int fd, int seals);
/*
 * A file made with O_TMPFILE of open(2) in the first directory that takes it, of $XDG_RUNTIME_DIR, /run, /dev/shm, /tmp and /var/tmp.
 * `prepare`, if given, gets the descriptor and returns the one to use, or -1 to go on with the next directory. -1 and errno.
 */
int unnamed_file(int flags, mode_t mode, int (*prepare)(int fd));

#endif
