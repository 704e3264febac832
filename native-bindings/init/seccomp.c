/* System call filters: init gets the program from the runtime and loads it as the last thing before it has no more work of its own. */
#include "run.h"
#include "../shared/sys.h"

#define FILTER_MAX BPF_MAXINSNS

static long read_filter(struct run *run, int fd) {
  struct stat info;
  long error = sys_fstat(fd, &info);
  if (error < 0) return fail(run, error, NULL, "fstat");
  size_t size = (size_t)info.st_size;
  if ((info.st_mode & S_IFMT) != S_IFREG || size == 0 || size % sizeof(struct sock_filter) != 0 ||
      size / sizeof(struct sock_filter) > FILTER_MAX)
    return fail(run, -EINVAL, NULL, "not a BPF program");
  // Read, not mapped: the file may belong to a cache, and a page of a file that became shorter is a SIGBUS.
  long address = sys(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address < 0 && address > -4096) return fail(run, address, NULL, "mmap");
  for (size_t have = 0; have < size;) {
    long got = sys_read(fd, (char *)address + have, size - have);
    if (got == -EINTR) continue;
    if (got <= 0) return fail(run, got < 0 ? got : -EINVAL, NULL, "read of the filter");
    have += (size_t)got;
  }
  run->program.filter = (struct sock_filter *)address;
  run->program.filter_length = (uint16_t)(size / sizeof(struct sock_filter));
  return 0;
}

long op_seccomp_receive(struct run *run, const struct op_seccomp_receive *op) {
  (void)op;
  int fd;
  long error = receive_message(run, MESSAGE_FILTER, &fd);
  if (error < 0) return error;
  error = read_filter(run, fd);
  sys_close(fd);
  return error;
}

/* Returns the result of seccomp(2): 0, or the listener that the flags ask for. */
static long load(struct run *run, uint32_t flags, bool raise) {
  if (run->program.filter == NULL) return fail(run, -EINVAL, NULL, "no filter was read");
  long error = raise ? capability_raise(CAP_SYS_ADMIN) : 0;
  if (error < 0) return fail(run, error, NULL, "capset");
  const struct sock_fprog program = {run->program.filter_length, run->program.filter};
  error = sys(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  return error < 0 ? fail(run, error, NULL, "seccomp") : error;
}

long seccomp_load_alone(struct run *run, uint32_t flags, bool raise) {
  // The hook has nobody who would take a listener.
  return load(run, flags & ~(uint32_t)SECCOMP_FILTER_FLAG_NEW_LISTENER, raise);
}

/* From the load on every system call of init is the filter's business, so it leaves as few as possible for later. */
long op_seccomp_load(struct run *run, const struct op_seccomp_load *op) {
  // The result is a descriptor only if the flags ask for one.
  bool listens = (op->flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
  if (listens != (op->listener != 0)) return fail(run, -EINVAL, NULL, "flags of seccomp and a listener that do not agree");
  long error = exec_prepare(run);
  if (error < 0) return error;
  long result = load(run, op->flags, op->raise != 0);
  if (result < 0) return result;
  if (!listens) return 0;
  error = send_message(run, MESSAGE_LISTENER, 0, 0, NULL, NULL, (int)result);
  sys_close((int)result);
  return error < 0 ? fail(run, error, NULL, "sending the seccomp listener") : 0;
}
