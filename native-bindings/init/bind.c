/* Binds: a detached clone taken from the source's path, attached inside the root. */
#include "inroot.h"
#include "mount.h"
#include "sys.h"

/* The fallback keeps the path: a bind needs a source in the mount namespace in which it is made. */
static long keep_path(struct run *run, const struct op_mount_open *op) {
  int fd = sys_openat(AT_FDCWD, op->source.at, O_PATH, 0);
  if (fd < 0) return fail(run, fd, op->source.at, "open");
  return slot_put(run, op->slot, fd);
}

long op_mount_open(struct run *run, const struct op_mount_open *op) {
  int fd = sys_open_tree(AT_FDCWD, op->source.at, OPEN_TREE_CLONE | (op->recursive ? AT_RECURSIVE : 0));
  long error;
  if (is_refused(fd)) error = keep_path(run, op);
  else if (fd < 0) return fail(run, fd, op->source.at, "open_tree");
  else error = slot_put(run, op->slot, fd);
  if (error < 0) return error;
  struct slot *slot = &run->slots[op->slot];
  slot->source = op->source.at;
  slot->recursive = op->recursive;
  slot->is_detached = !is_refused(fd);
  slot->is_foreign = !run->is_init;
  return 0;
}

long op_root_propagation(struct run *run, const struct op_root_propagation *op) {
  long error = sys_mount(NULL, "/", NULL, op->flags, NULL);
  if (error < 0) return fail(run, error, "/", "mount propagation");
  run->propagation = op->flags;
  return 0;
}

/* A tree cloned in the host's namespace is a peer of the host's mounts; it becomes what root.propagation would have made it,
 * or mounts below it would appear on the host. */
static long adopt_propagation(struct run *run, int fd, bool attached) {
  uint32_t type = run->propagation & (MS_SLAVE | MS_PRIVATE);
  if (type == 0) return 0;
  if (attached) return mount_propagate(run, fd, type | MS_REC);
  return mount_setattr(fd, AT_RECURSIVE, 0, 0, type);
}

static long attach_detached(struct run *run, struct slot *slot, int target, const char *path, const struct attributes *attributes,
                            bool *attached) {
  long adopted = slot->is_foreign ? adopt_propagation(run, slot->fd, false) : 0;
  long error = mount_attach(run, slot->fd, target, path, attributes, attached);
  if (error >= 0 && adopted < 0) {
    error = adopt_propagation(run, slot->fd, true);
    if (error < 0) return fail(run, error, path, "mount propagation");
  }
  return error;
}

static long bind_by_path(struct run *run, struct slot *slot, int target, const char *path, const struct attributes *attributes) {
  int source = sys_openat(AT_FDCWD, slot->source, O_PATH, 0);
  if (source < 0) return fail(run, source, slot->source, "open");
  long error = mount_old_bind(run, source, target, slot->recursive);
  sys_close(source);
  if (error < 0) return fail(run, error, path, "mount");
  int mount = inroot_open(run->slots[SLOT_ROOT].fd, path, 0);
  if (mount < 0) return fail(run, mount, path, "open of the new mount");
  error = inroot_same(mount, target) ? fail(run, -ESTALE, path, "the mount target was moved") : mount_apply(run, mount, path, attributes);
  sys_close(mount);
  return error;
}

long op_mount_bind(struct run *run, const struct op_mount_bind *op) {
  int fd = slot_get(run, op->slot);
  if (fd < 0) return fd;
  struct slot *slot = &run->slots[op->slot];
  const struct attributes attributes = ATTRIBUTES(op);
  struct stat info;
  bool directory = op->create == CREATE_DIRECTORY;
  if (op->create == CREATE_LIKE_SOURCE) {
    long error = sys_fstat(fd, &info);
    if (error < 0) return fail(run, error, slot->source, "fstat");
    directory = (info.st_mode & S_IFMT) == S_IFDIR;
  }
  int target = mount_target(run, op->target.at, op->create, directory, 0);
  if (target < 0) return target;
  bool attached = false;
  long error = slot->is_detached ? attach_detached(run, slot, target, op->target.at, &attributes, &attached) : -ENOSYS;
  if (is_refused(error) && !attached) error = bind_by_path(run, slot, target, op->target.at, &attributes);
  sys_close(target);
  slot_close(run, op->slot);
  return error;
}
