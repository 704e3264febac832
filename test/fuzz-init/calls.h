/* The system calls of the helper, and what their arguments are. A call that is not here ends the run with a finding.
 *
 * One letter an argument: f descriptor, d directory (or AT_FDCWD), s string, S string or NULL, r readable and w writable memory whose length is
 * the next argument (R, W: or NULL), i a number or what the answer itself checks. The place in this list is the rules' name of a call: append. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H
#define CALLS(X) \
  X(capget, "ii") X(capset, "ii") X(chdir, "s") X(chroot, "s") X(clock_gettime, "ii") X(clock_nanosleep, "iiii") X(clone, "iiiii") \
  X(clone3, "ri") X(close, "i") X(close_range, "iii") X(connect, "fri") X(dup3, "fii") X(execve, "sii") X(execveat, "fsii") \
  X(exit_group, "i") X(faccessat, "dsi") X(faccessat2, "dsii") X(fchdir, "f") X(fchmod, "fi") X(fchmodat, "dsi") X(fchown, "fii") \
  X(fchownat, "dsiii") X(fcntl, "iii") X(fsconfig, "fiSSi") X(fsmount, "fii") X(fsopen, "si") X(fspick, "dsi") X(fstat, "fi") \
  X(fstatfs, "fi") X(getcwd, "wi") X(getdents64, "fwi") X(getgroups, "ii") X(getpid, "") X(ioctl, "fii") X(ioprio_set, "iii") \
  X(keyctl, "iSiii") X(kill, "ii") X(mkdirat, "dsi") X(mknodat, "dsii") X(mmap, "iiiiii") X(mount, "SsSiS") X(mount_setattr, "dsiri") \
  X(move_mount, "dsdsi") X(munmap, "ii") X(nanosleep, "ii") X(newfstatat, "dsii") X(open_tree, "dsi") X(openat, "dsii") \
  X(openat2, "dsri") X(personality, "i") X(pidfd_open, "ii") X(pidfd_send_signal, "fiii") X(pipe2, "ii") X(pivot_root, "ss") \
  X(ppoll, "iiii") X(prctl, "iiiii") X(prlimit64, "iiii") X(read, "fwi") X(readlinkat, "dswi") X(recvfrom, "fwiiii") X(recvmsg, "fii") \
  X(rt_sigaction, "iiii") X(rt_sigprocmask, "iiii") X(sched_setaffinity, "iir") X(sched_setattr, "iii") X(seccomp, "iii") \
  X(sendfile, "ffii") X(sendmsg, "fii") X(set_mempolicy, "iii") X(setdomainname, "ri") X(setgroups, "ii") X(sethostname, "ri") \
  X(setns, "fi") X(setresgid, "iii") X(setresuid, "iii") X(setsid, "") X(signalfd4, "iiii") X(socket, "iii") X(statx, "dsiii") \
  X(symlinkat, "sds") X(umask, "i") X(umount2, "si") X(unlinkat, "dsi") X(unshare, "i") X(wait4, "iiii") X(write, "fri") X(lseek, "fii") X(socketpair, "iiii") \
  X(pread64, "fwii") X(mprotect, "iii")

#define CALL_ANY 255
enum call {
#define X(name, arguments) CALL_##name,
  CALLS(X)
#undef X
      CALL_COUNT
};
#endif
