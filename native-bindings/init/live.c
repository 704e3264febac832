/* Mounts of a container that runs: its processes are hostile and may change every path meanwhile. */
#include "../shared/inroot.h"
#include "mount.h"
#include "../shared/sys.h"

long op_mount_propagation(struct run *run, const struct op_mount_propagation *op) {
  int fd = slot_get(run, op->slot);
  if (fd < 0) return fd;
  struct slot *slot = &run->slots[op->slot];
  if (slot->is_link) return 0;
  if (!slot->is_detached) return fail(run, -ENOSYS, slot->source, "open_tree: a mount for a running container needs it");
  long error = mount_setattr(fd, op->flags & MS_REC ? AT_RECURSIVE : 0, 0, 0, op->flags & ~(uint32_t)MS_REC);
  if (error < 0) return fail(run, error, slot->source, "mount_setattr: a mount for a running container needs it (Linux 5.12)");
  // Its path means something else in the container.
  slot->is_unique = true;
  return 0;
}

/* mount(2) and umount2(2) take paths; below the held procfs of the host every descriptor has one. */
static long detach(struct run *run, int fd) {
  char path[32];
  struct buffer out = BUFFER(path);
  put_text(&out, "self/fd/");
  put_u64(&out, (uint64_t)fd);
  int proc = proc_get(run);
  long error = proc < 0 ? proc : sys_fchdir(proc);
  return error < 0 ? error : sys(__NR_umount2, path, MNT_DETACH_);
}

long op_mount_detach(struct run *run, const struct op_mount_detach *op) {
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  // A link that the container has put there could lead to a mask of its /proc.
  int fd = inroot_open(root, op->target.at, INROOT_NO_LINKS);
  if (fd < 0) return fail(run, fd, op->target.at, "open of the mount");
  long error = mount_same(run, fd, root) ? -EINVAL : detach(run, fd);
  sys_close(fd);
  return error < 0 ? fail(run, error, op->target.at, error == -EINVAL ? "not a mount that can be removed" : "umount2") : 0;
}
