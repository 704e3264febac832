/* Namespaces: joining, unsharing, and what is set once inside them. */
#include "run.h"
#include "../shared/sys.h"

/* All files are opened before the first is joined: a joined user or mount namespace could hide the others. */
static long open_all(struct run *run) {
  struct plan_cursor cursor = plan_begin(&run->plan);
  struct operation operation;
  uint32_t count = 0;
  while (plan_find(&run->plan, &cursor, OP_namespace_join, &operation)) count++;
  long error = memory_map(run, count * sizeof(int), &run->intermediate.joins);
  if (error < 0) return error;
  cursor = plan_begin(&run->plan);
  for (uint32_t i = 0; plan_find(&run->plan, &cursor, OP_namespace_join, &operation); i++)
    run->intermediate.joins[i] = sys_openat(AT_FDCWD, operation.arguments.namespace_join.path.at, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  return 0;
}

bool is_own_user_namespace(int fd) {
  int self = sys_openat(AT_FDCWD, "/proc/self/ns/user", O_PATH, 0);
  if (self < 0) return false;
  bool same = is_same_file(self, fd);
  sys_close(self);
  return same;
}

long op_namespace_join(struct run *run, const struct op_namespace_join *op) {
  if (run->intermediate.joins == NULL) {
    long error = open_all(run);
    if (error < 0) return error;
  }
  int fd = run->intermediate.joins[run->intermediate.join_count++];
  if (fd < 0) return fail(run, fd, op->path.at, "open");
  struct statfs filesystem;
  long error = sys_fstatfs(fd, &filesystem);
  if (error >= 0 && filesystem.f_type != NSFS_MAGIC) error = -EINVAL;
  if (error >= 0 && sys_ioctl(fd, NS_GET_NSTYPE, NULL) != (long)op->flag) error = -EINVAL;
  if (error < 0) return fail(run, error, op->path.at, "not a namespace of the wanted type");
  if (op->flag != CLONE_NEWUSER || !is_own_user_namespace(fd)) error = sys(__NR_setns, fd, op->flag);
  sys_close(fd);
  return finish(run, error, op->path.at, "setns");
}

long op_namespace_unshare(struct run *run, const struct op_namespace_unshare *op) {
  return finish(run, sys(__NR_unshare, op->flags), NULL, "unshare");
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
  static const char *const path = "self/timens_offsets";
  return proc_write(run, path, path, &out);
}

long op_hostname_set(struct run *run, const struct op_hostname_set *op) {
  return finish(run, sys(__NR_sethostname, op->name.at, op->name.length), op->name.at, "sethostname");
}

long op_domainname_set(struct run *run, const struct op_domainname_set *op) {
  return finish(run, sys(__NR_setdomainname, op->name.at, op->name.length), op->name.at, "setdomainname");
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
  return run->intermediate.loopback_is_up ? 0 : finish(run, loopback_raise(), "lo", "SIOCSIFFLAGS");
}

long op_keyring_join(struct run *run, const struct op_keyring_join *op) {
  long error = sys(__NR_keyctl, KEYCTL_JOIN_SESSION_KEYRING, op->name.length > 0 ? op->name.at : NULL, 0, 0, 0);
  if (error == -ENOSYS || error == -EPERM || error == -EDQUOT) {
    warn(run, error, op->name.at, "keyctl: the session keyring stays the caller's");
    return 0;
  }
  return finish(run, error, op->name.at, "keyctl");
}
