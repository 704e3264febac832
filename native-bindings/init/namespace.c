/* Namespaces: joining, unsharing, and what is set once inside them. */
#include "run.h"
#include "../shared/sys.h"

/* All files are opened before the first is joined: a joined user or mount namespace could hide the others. */
static long open_all(struct run *run) {
  struct plan_cursor cursor = plan_begin(&run->plan);
  struct operation operation;
  uint32_t count = 0;
  while (plan_next(&run->plan, &cursor, &operation)) count += operation.number == OP_namespace_join;
  long address = sys(__NR_mmap, 0, count * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address < 0 && address > -4096) return fail(run, address, NULL, "mmap");
  run->joins = (int *)address;
  cursor = plan_begin(&run->plan);
  for (uint32_t i = 0; plan_next(&run->plan, &cursor, &operation);) {
    if (operation.number != OP_namespace_join) continue;
    run->joins[i++] = sys_openat(AT_FDCWD, operation.arguments.namespace_join.path.at, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  }
  return 0;
}

bool is_own_user_namespace(int fd) {
  struct stat own, other;
  int self = sys_openat(AT_FDCWD, "/proc/self/ns/user", O_PATH, 0);
  if (self < 0) return false;
  bool same = sys_fstat(self, &own) >= 0 && sys_fstat(fd, &other) >= 0 && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
  sys_close(self);
  return same;
}

long op_namespace_join(struct run *run, const struct op_namespace_join *op) {
  if (run->joins == NULL) {
    long error = open_all(run);
    if (error < 0) return error;
  }
  int fd = run->joins[run->join_count++];
  if (fd < 0) return fail(run, fd, op->path.at, "open");
  struct statfs filesystem;
  long error = sys_fstatfs(fd, &filesystem);
  if (error >= 0 && filesystem.f_type != NSFS_MAGIC) error = -EINVAL;
  if (error >= 0 && sys_ioctl(fd, NS_GET_NSTYPE, NULL) != (long)op->flag) error = -EINVAL;
  if (error < 0) return fail(run, error, op->path.at, "not a namespace of the wanted type");
  if (op->flag != CLONE_NEWUSER || !is_own_user_namespace(fd)) error = sys(__NR_setns, fd, op->flag);
  sys_close(fd);
  return error < 0 ? fail(run, error, op->path.at, "setns") : 0;
}

long op_namespace_unshare(struct run *run, const struct op_namespace_unshare *op) {
  long error = sys(__NR_unshare, op->flags);
  return error < 0 ? fail(run, error, NULL, "unshare") : 0;
}

long op_time_offsets(struct run *run, const struct op_time_offsets *op) {
  char text[160];
  struct buffer out = BUFFER(text);
  put_text(&out, "monotonic ");
  put_i64(&out, op->monotonic_seconds);
  put_text(&out, " ");
  put_u64(&out, op->monotonic_nanoseconds);
  put_text(&out, "\nboottime ");
  put_i64(&out, op->boottime_seconds);
  put_text(&out, " ");
  put_u64(&out, op->boottime_nanoseconds);
  put_text(&out, "\n");
  int proc = proc_get(run);
  if (proc < 0) return proc;
  const char *path = "self/timens_offsets";
  long fd = sys_openat(proc, path, O_WRONLY, 0);
  if (fd < 0) return fail(run, fd, path, "open");
  long size = sys_write((int)fd, text, out.used);
  sys_close((int)fd);
  return size < 0 ? fail(run, size, path, "write") : 0;
}

long op_hostname_set(struct run *run, const struct op_hostname_set *op) {
  long error = sys(__NR_sethostname, op->name.at, op->name.length);
  return error < 0 ? fail(run, error, op->name.at, "sethostname") : 0;
}

long op_domainname_set(struct run *run, const struct op_domainname_set *op) {
  long error = sys(__NR_setdomainname, op->name.at, op->name.length);
  return error < 0 ? fail(run, error, op->name.at, "setdomainname") : 0;
}

long loopback_raise(void) {
  struct interface_request request = {.name = "lo"};
  int fd = (int)sys(__NR_socket, AF_INET_, SOCK_DGRAM_ | SOCK_CLOEXEC_, 0);
  if (fd < 0) return fd;
  long error = sys_ioctl(fd, SIOCGIFFLAGS_, &request);
  bool is_up = (request.flags & IFF_UP_) != 0;
  request.flags |= IFF_UP_;
  // One that is joined may have it up.
  if (error >= 0 && !is_up) error = sys_ioctl(fd, SIOCSIFFLAGS_, &request);
  sys_close(fd);
  return error;
}

long op_loopback_up(struct run *run, const struct op_loopback_up *op) {
  (void)op;
  if (run->loopback_is_up) return 0;
  long error = loopback_raise();
  return error < 0 ? fail(run, error, "lo", "SIOCSIFFLAGS") : 0;
}

long op_keyring_join(struct run *run, const struct op_keyring_join *op) {
  long error = sys(__NR_keyctl, KEYCTL_JOIN_SESSION_KEYRING, op->name.length > 0 ? op->name.at : NULL, 0, 0, 0);
  if (error == -ENOSYS || error == -EPERM || error == -EDQUOT) {
    warn(run, error, op->name.at, "keyctl: the session keyring stays the caller's");
    return 0;
  }
  return error < 0 ? fail(run, error, op->name.at, "keyctl") : 0;
}
