/* The root filesystem: opening it, and making it the root. */
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "mount.h"
#include "prepare.h"
#include "source.h"
#include "../shared/sys.h"

/* pivot_root(2) refuses a root below a shared mount. The mount is found by trying the path and then its parents. */
static long make_parent_private(const char *path) {
  char place[PATH_MAX];
  struct buffer out = BUFFER(place);
  put_text(&out, path);
  if (out.truncated) return -ENAMETOOLONG;
  for (;;) {
    long error = sys_mount(NULL, place, NULL, MS_PRIVATE, NULL);
    if (error != -EINVAL || out.used <= 1) return error;
    while (out.used > 1 && place[out.used - 1] == '/') out.used--;
    while (out.used > 1 && place[out.used - 1] != '/') out.used--;
    while (out.used > 1 && place[out.used - 1] == '/') out.used--;
    place[out.used] = 0;
  }
}

static int open_root(const char *path) {
  return sys_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | (DEFENCE_DISABLED(root_link) ? 0 : O_NOFOLLOW), 0);
}

static int bind_old(struct run *run, const char *path, int old) {
  long error = sys_mount(path, path, NULL, MS_BIND | MS_REC, NULL);
  if (error < 0) return (int)error;
  int fd = open_root(path);
  // A mount on `old`, of `old`: both paths were looked up anew, and may have led elsewhere.
  if (fd >= 0 && !DEFENCE_DISABLED(root_link) && (!is_same_file(fd, old) || mount_same(run, fd, old))) {
    sys_close(fd);
    return -ESTALE;
  }
  return fd;
}

static int bind_onto_itself(struct run *run, const char *path, int old) {
  int fd = mount_clone(old, true);
  long error = fd < 0 ? fd : mount_move(fd, old);
  if (error >= 0) return fd;
  if (fd >= 0) sys_close(fd);
  return is_refused(error) ? bind_old(run, path, old) : (int)error;
}

long op_root_open(struct run *run, const struct op_root_open *op) {
  const char *path = op->path.at;
  int old = open_root(path);
  if (old < 0) return fail(run, old, path, old == -ENOTDIR ? "root filesystem is not a directory, or a symlink" : "open");
  run->init.rootfs = path;
  if (op->in_place) return slot_put(run, SLOT_ROOT, old);
  bool unshared = (run->init.propagation & (MS_SLAVE | MS_PRIVATE)) != 0 && (run->init.propagation & MS_REC) != 0;
  long error = unshared ? 0 : make_parent_private(path);
  if (error < 0) {
    sys_close(old);
    return fail(run, error, path, "making the mount below the root filesystem private");
  }
  int fd = bind_onto_itself(run, path, old);
  sys_close(old);
  if (fd < 0) return fail(run, fd, path, "binding the root filesystem onto itself");
  return slot_put(run, SLOT_ROOT, fd);
}

/* / must now be what slot ROOT is. */
static long verify_root(struct run *run) {
  long error = sys(__NR_chdir, "/");
  if (error < 0) return fail(run, error, "/", "chdir");
  int fd = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
  if (fd < 0) return fail(run, fd, "/", "open");
  bool same = mount_same(run, fd, run->slots[SLOT_ROOT].fd);
  sys_close(fd);
  return same ? 0 : fail(run, -ESTALE, "/", "the root is not the root filesystem");
}

static long detach_old_root(int old) {
  long error = sys_fchdir(old);
  // As a slave, what is unmounted here is not unmounted on the host.
  if (error >= 0) error = sys_mount(NULL, ".", NULL, MS_SLAVE | MS_REC, NULL);
  return error < 0 ? error : sys(__NR_umount2, ".", MNT_DETACH_);
}

long op_root_pivot(struct run *run, const struct op_root_pivot *op) {
  (void)op;
  prepared_close(run);
  sources_close(run);
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  // The fallbacks of later operations go through the host's procfs, which is out of sight after this.
  int proc = proc_get(run);
  if (proc < 0) return proc;
  int old = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
  if (old < 0) return fail(run, old, "/", "open");
  long error = sys_fchdir(root);
  if (error >= 0) error = sys(__NR_pivot_root, ".", ".");
  if (error < 0) fail(run, error, run->init.rootfs, "pivot_root");
  else if ((error = detach_old_root(old)) < 0) fail(run, error, NULL, "detaching the old root");
  sys_close(old);
  return error < 0 ? error : verify_root(run);
}

long op_root_enter(struct run *run, const struct op_root_enter *op) {
  (void)op;
  prepared_close(run);
  sources_close(run);
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  int proc = proc_get(run);
  if (proc < 0) return proc;
  long error = sys_fchdir(root);
  if (error >= 0) error = sys(__NR_chroot, ".");
  return error < 0 ? fail(run, error, run->init.rootfs, "chroot") : verify_root(run);
}

long op_root_final_propagation(struct run *run, const struct op_root_final_propagation *op) {
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  return finish(run, mount_propagate(run, root, op->flags), "/", "mount propagation");
}

long op_root_readonly(struct run *run, const struct op_root_readonly *op) {
  (void)op;
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  return finish(run, mount_change(run, root, MOUNT_ATTR_RDONLY, 0), "/", "read-only root");
}
