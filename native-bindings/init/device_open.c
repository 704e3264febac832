/* Device nodes for a user namespace: made with the rights of the host, bound by init, which may not make them. */
#include "mount.h"
#include "prepare.h"
#include "../shared/sys.h"

static const char NODE[] = "node";

static long make_node(int mount, const struct op_device_open *op) {
  long error = sys(__NR_mknodat, mount, NODE, op->type, device_number(op->major, op->minor));
  if (error >= 0) error = sys(__NR_fchownat, mount, NODE, op->uid, op->gid, AT_SYMLINK_NOFOLLOW);
  return error < 0 ? error : sys(__NR_fchmodat, mount, NODE, op->mode & 07777);
}

static long clone_node(int mount, int result) {
  long error = sys(__NR_unshare, CLONE_NEWNS);
  if (error >= 0) error = sys_mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  if (error >= 0) error = sys(__NR_move_mount, mount, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH);
  int fd = error < 0 ? (int)error : sys_open_tree(mount, NODE, OPEN_TREE_CLONE);
  error = fd < 0 ? fd : sys(__NR_dup3, fd, result, O_CLOEXEC);
  if (fd >= 0) sys_close(fd);
  return error < 0 ? error : 0;
}

/* Before Linux 6.15 only what is attached can be cloned. So a child that shares the descriptors attaches the tmpfs for a moment, in a
 * mount namespace that ends with it, and leaves the clone behind `result`. */
static long clone_by_child(int mount, int result) {
  long pid = sys(__NR_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) sys_exit((int)-clone_node(mount, result));
  if (pid < 0) return pid;
  int status = wait_child(pid);
  return (status & 0x7f) != 0 ? -EINTR : -((status >> 8) & 0xff);
}

static long open_host_node(struct run *run, const struct op_device_open *op, long refusal) {
  const struct op_mount_open open = {.source = op->path, .slot = op->slot};
  warn(run, refusal, op->path.at, "a device of a user namespace is the host's own, with its owner and mode");
  return op_mount_open(run, &open);
}

long op_device_open(struct run *run, const struct op_device_open *op) {
  static const struct standard tmpfs = {.fstype = "tmpfs", .attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC};
  int mount = standard_make(&tmpfs);
  if (is_refused(mount)) return open_host_node(run, op, mount);
  if (mount < 0) return fail(run, mount, op->path.at, "tmpfs for a device");
  long error = make_node(mount, op);
  int result = error < 0 ? (int)error : (int)sys(__NR_fcntl, mount, F_DUPFD_CLOEXEC, 3);
  error = result < 0 ? result : clone_by_child(mount, result);
  sys_close(mount);
  const struct slot made = {.fd = result, .source = op->path.at, .is_detached = true, .is_unique = true, .is_foreign = true};
  if (error >= 0) return slot_fill(run, op->slot, &made);
  if (result >= 0) sys_close(result);
  return is_refused(error) ? open_host_node(run, op, error) : fail(run, error, op->path.at, "device node for a user namespace");
}
