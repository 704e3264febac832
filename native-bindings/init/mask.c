/* Masked and read-only paths of the final root. */
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "mount.h"
#include "prepare.h"
#include "../shared/sys.h"

#define NULL_DEVICE (1 << 8 | 3)

static const struct list NO_PROPAGATION = {NULL, 0};
static const struct attributes READ_ONLY = {MOUNT_ATTR_RDONLY, 0, 0, 0, &NO_PROPAGATION, 0};
static const struct attributes UNCHANGED = {0, 0, 0, 0, &NO_PROPAGATION, 0};

static long check_null(int fd) {
  struct stat info;
  long error = sys_fstat(fd, &info);
  if (DEFENCE_DISABLED(null_device)) return 0;
  if (error >= 0 && ((info.st_mode & S_IFMT) != S_IFCHR || info.st_rdev != NULL_DEVICE)) error = -EINVAL;
  return error;
}

/* The image or the host may have something else at this path. */
long op_mask_open(struct run *run, const struct op_mask_open *op) {
  (void)op;
  if (DEFENCE_DISABLED(null_device)) return 0;
  int fd = sys_openat(AT_FDCWD, "/dev/null", O_PATH | O_NOFOLLOW, 0);
  if (fd < 0) return fail(run, fd, "/dev/null", "open");
  long error = check_null(fd);
  if (error < 0) {
    sys_close(fd);
    return fail(run, error, "/dev/null", "not the null device");
  }
  int clone = mount_clone(fd, false);
  sys_close(fd);
  // If it is refused, masks bind the null device of the container.
  if (is_refused(clone)) return 0;
  if (clone < 0) return fail(run, clone, "/dev/null", "open_tree");
  // The clone of a shared /dev must not stay its peer. Where this is refused, the mount is made private once attached.
  mount_setattr(clone, 0, 0, 0, MS_PRIVATE);
  return slot_put(run, SLOT_NULL, clone);
}

/* 1 = the path is missing, which is no error here. */
static long open_path(struct run *run, const char *path, int *fd) {
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  *fd = inroot_open(root, path, 0);
  if (*fd == -ENOENT || *fd == -ENOTDIR) return 1;
  return *fd < 0 ? fail(run, *fd, path, "open") : 0;
}

/* There is no older way to reach the mounts below; 1 = they stay as they are. */
static long protect_tree(struct run *run, int mount, const char *path) {
  long error = mount_protect_tree(mount);
  if (!mount_setattr_refused(mount, error)) return finish(run, error, path, "mount_setattr: read-only path");
  warn(run, error, path, "mounts below a read-only path stay as they are (needs Linux 5.12)");
  return 1;
}

static long readonly_old(struct run *run, int target, const char *path) {
  long error = mount_table_read(run);
  if (error < 0) return error;
  error = mount_old_bind(run, target, target, true);
  if (error < 0) return fail(run, error, path, "mount");
  int mount = mount_reopen(run, path, 0, target);
  if (mount < 0) return mount;
  error = mount_apply(run, mount, path, &READ_ONLY);
  if (error >= 0) error = protect_tree(run, mount, path);
  sys_close(mount);
  return error < 0 ? error : 0;
}

long op_path_readonly(struct run *run, const struct op_path_readonly *op) {
  int target;
  const char *path = op->path.at;
  if (DEFENCE_DISABLED(readonly_paths)) return 0;
  long error = open_path(run, path, &target);
  if (error != 0) return error < 0 ? error : 0;
  bool decided = false;
  int clone = mount_clone(target, true);
  if (clone < 0) {
    error = fail(run, clone, path, "open_tree");
  } else {
    long alone = protect_tree(run, clone, path);
    error = alone < 0 ? alone : mount_attach(run, clone, target, path, alone ? &READ_ONLY : &UNCHANGED, &decided);
    sys_close(clone);
  }
  if (is_refused(error) && !decided) error = readonly_old(run, target, path);
  sys_close(target);
  return error;
}

/* A file system that can hold nothing: one block, one inode (two where the root takes more than one). */
static int make_empty(void) {
  struct standard empty = {
      .fstype = "tmpfs",
      .options = {{"nr_blocks", "1"}, {"nr_inodes", "1"}, {"mode", "755"}},
      .super_flags = MS_RDONLY,
      .attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
  };
  int mount = standard_make(&empty);
  if (mount >= 0 || is_refused(mount)) return mount;
  empty.options[1].value = "2";
  return standard_make(&empty);
}

static long mask_old(struct run *run, int target, bool directory, const char *path) {
  if (directory) {
    long error = mount_old(run, "tmpfs", target, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "nr_blocks=1,nr_inodes=2,mode=755");
    return finish(run, error, path, "mount");
  }
  int null = inroot_open(run->slots[SLOT_ROOT].fd, "/dev/null", DEFENCE_DISABLED(null_device) ? 0 : INROOT_NO_FOLLOW);
  if (null < 0) return fail(run, null, "/dev/null", "open");
  long error = check_null(null);
  if (error >= 0) error = mount_old_bind(run, null, target, false);
  sys_close(null);
  return finish(run, error, path, "masking with the null device");
}

/* Clones only work on attached mounts (before Linux 6.15), so the first mask takes the mount itself: of a file, what slot NULL holds. */
static long mask_new(struct run *run, int target, bool directory, const char *path, bool *decided) {
  int *shared = directory ? &run->init.mask_directory : &run->init.mask_file;
  bool is_first = *shared < 0, is_null = is_first && !directory;
  int mount = is_null ? run->slots[SLOT_NULL].fd : is_first ? make_empty() : mount_clone(*shared, false);
  if (mount < 0) return is_null ? -ENOSYS : fail(run, mount, path, is_first ? "empty tmpfs" : "open_tree");
  long error = mount_attach(run, mount, target, path, &UNCHANGED, decided);
  if (error >= 0 && is_first) *shared = mount;
  else if (!is_null) sys_close(mount);
  if (error >= 0 && is_null) run->slots[SLOT_NULL].fd = -1;
  return error;
}

/* A path that is listed twice, in whatever spelling: what the mask shows is there already. Directories of procfs and sysfs have no size, and few
 * files are a null device: usually there is nothing to be asked. */
static bool is_masked(const struct run *run, const struct stat *info, bool directory) {
  int mask = directory ? run->init.mask_directory : run->init.mask_file;
  bool may_be = directory ? info->st_size != 0 : (info->st_mode & S_IFMT) == S_IFCHR && info->st_rdev == NULL_DEVICE;
  struct stat own;
  return mask >= 0 && may_be && sys_fstat(mask, &own) >= 0 && own.st_dev == info->st_dev && own.st_ino == info->st_ino;
}

long op_path_mask(struct run *run, const struct op_path_mask *op) {
  int target;
  const char *path = op->path.at;
  if (DEFENCE_DISABLED(masked_paths)) return 0;
  long error = open_path(run, path, &target);
  if (error != 0) return error < 0 ? error : 0;
  struct stat info;
  error = sys_fstat(target, &info);
  if (error < 0) {
    sys_close(target);
    return fail(run, error, path, "fstat");
  }
  bool directory = (info.st_mode & S_IFMT) == S_IFDIR, decided = false;
  if (is_masked(run, &info, directory)) {
    sys_close(target);
    return 0;
  }
  error = mask_new(run, target, directory, path, &decided);
  if (is_refused(error) && !decided) error = mask_old(run, target, directory, path);
  sys_close(target);
  return error;
}
