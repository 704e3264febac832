/* Raw system calls: each returns what the kernel returns, a negative errno on failure. */
#ifndef RUNT_SYS_H
#define RUNT_SYS_H
#include "kernel.h"

long raw_syscall(long number, long a, long b, long c, long d, long e, long f);

#define SYS_PICK(_0, _1, _2, _3, _4, _5, _6, name, ...) name
#define sys(...) SYS_PICK(__VA_ARGS__, sys6, sys5, sys4, sys3, sys2, sys1, sys0, )(__VA_ARGS__)
#define sys0(n) raw_syscall(n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a) raw_syscall(n, (long)(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b) raw_syscall(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys3(n, a, b, c) raw_syscall(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys4(n, a, b, c, d) raw_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define sys5(n, a, b, c, d, e) raw_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define sys6(n, a, b, c, d, e, f) raw_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/*
 * A filter of the container may refuse every system call that ends a process. The last way is a fault: the kernel kills the process for it, pid 1 too.
 * No kill(2): where getpid(2) is refused, its answer may mean every process that there is.
 */
_Noreturn static inline void sys_exit(int status) {
  sys(__NR_exit_group, status);
  sys(__NR_exit, status);
  __builtin_trap();
}

/* A filter may answer EINTR for ever. */
#define INTERRUPTIONS_MOST 1000
#define sys_again(result, ...) \
  for (int interruptions = 0; ((result) = sys(__VA_ARGS__)) == -EINTR && interruptions < INTERRUPTIONS_MOST; interruptions++) continue
static inline int sys_openat(int directory, const char *path, unsigned flags, unsigned mode) {
  return (int)sys(__NR_openat, directory, path, flags | O_CLOEXEC, mode);
}
static inline int sys_close(int fd) { return (int)sys(__NR_close, fd); }
static inline long sys_read(int fd, void *buffer, size_t size) { return sys(__NR_read, fd, buffer, size); }
static inline long sys_write(int fd, const void *buffer, size_t size) { return sys(__NR_write, fd, buffer, size); }
static inline int sys_fstat(int fd, struct stat *out) { return (int)sys(__NR_fstat, fd, out); }
/* The same file of the same filesystem, whatever the mount; false where one of them cannot be asked. */
static inline bool is_same_file(int a, int b) {
  struct stat x, y;
  return sys_fstat(a, &x) >= 0 && sys_fstat(b, &y) >= 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
static inline int sys_fstatfs(int fd, struct statfs *out) { return (int)sys(__NR_fstatfs, fd, out); }
static inline int sys_fchdir(int fd) { return (int)sys(__NR_fchdir, fd); }
/* kill(2) of one process: to the kernel 0 means the caller's group, -1 every process, and other negative numbers a group. */
static inline long sys_kill(long pid, int signal) { return pid > 0 ? sys(__NR_kill, pid, signal) : -ESRCH; }
static inline long sys_ioctl(int fd, unsigned long request, void *argument) { return sys(__NR_ioctl, fd, request, argument); }
static inline long sys_prctl(int option, unsigned long a, unsigned long b) { return sys(__NR_prctl, option, a, b, 0, 0); }
static inline long sys_mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data) {
  return sys(__NR_mount, source, target, type, flags, data);
}
static inline int sys_open_tree(int directory, const char *path, unsigned flags) {
  return (int)sys(__NR_open_tree, directory, path, flags | OPEN_TREE_CLOEXEC);
}
static inline int sys_poll(struct pollfd *fds, unsigned count, const struct __kernel_timespec *timeout) {
  return (int)sys(__NR_ppoll, fds, count, timeout, NULL, 0);
}

/* The new system calls have a fallback when the kernel lacks them or a sandbox refuses them. */
static inline bool is_refused(long result) { return result == -ENOSYS || result == -EPERM; }
#endif
