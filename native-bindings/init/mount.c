#include "mount.h"

#include "inroot.h"
#include "sys.h"

struct flag_pair {
  uint64_t attribute;
  unsigned long flag;
  unsigned long statfs;
};

static const struct flag_pair FLAGS[] = {
    {MOUNT_ATTR_RDONLY, MS_RDONLY, STATFS_RDONLY},
    {MOUNT_ATTR_NOSUID, MS_NOSUID, STATFS_NOSUID},
    {MOUNT_ATTR_NODEV, MS_NODEV, STATFS_NODEV},
    {MOUNT_ATTR_NOEXEC, MS_NOEXEC, STATFS_NOEXEC},
    {MOUNT_ATTR_NODIRATIME, MS_NODIRATIME, STATFS_NODIRATIME},
    {MOUNT_ATTR_NOSYMFOLLOW, MS_NOSYMFOLLOW, STATFS_NOSYMFOLLOW},
};

unsigned long mount_flags(uint64_t attributes) {
  unsigned long flags = 0;
  for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
    if (attributes & FLAGS[i].attribute) flags |= FLAGS[i].flag;
  switch (attributes & MOUNT_ATTR__ATIME) {
    case MOUNT_ATTR_NOATIME:
      return flags | MS_NOATIME;
    case MOUNT_ATTR_STRICTATIME:
      return flags | MS_STRICTATIME;
  }
  return flags | MS_RELATIME;
}

static uint64_t current_attributes(const struct statfs *filesystem) {
  uint64_t attributes = 0;
  for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
    if (filesystem->f_flags & FLAGS[i].statfs) attributes |= FLAGS[i].attribute;
  if (filesystem->f_flags & STATFS_NOATIME) return attributes | MOUNT_ATTR_NOATIME;
  return filesystem->f_flags & STATFS_RELATIME ? attributes : attributes | MOUNT_ATTR_STRICTATIME;
}

long mount_setattr(int fd, unsigned flags, uint64_t set, uint64_t clear, uint64_t propagation) {
  struct mount_attr attributes = {.attr_set = set, .attr_clr = clear, .propagation = propagation};
  return sys(__NR_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attributes, sizeof attributes);
}

/* mount(2) takes paths; below the held procfs every descriptor has one, before and after the pivot. */
static long enter_proc(struct run *run) {
  int proc = proc_get(run);
  return proc < 0 ? proc : sys_fchdir(proc);
}

static void put_descriptor_path(struct buffer *out, int fd) {
  put_text(out, "self/fd/");
  put_u64(out, (uint64_t)fd);
}

long mount_old(struct run *run, const char *source, int target, const char *type, unsigned long flags, const char *data) {
  char path[32];
  struct buffer out = BUFFER(path);
  put_descriptor_path(&out, target);
  long error = enter_proc(run);
  return error < 0 ? error : sys_mount(source, path, type, flags, data);
}

long mount_old_bind(struct run *run, int source, int target, bool recursive) {
  char path[32];
  struct buffer out = BUFFER(path);
  put_descriptor_path(&out, source);
  return mount_old(run, path, target, NULL, MS_BIND | (recursive ? MS_REC : 0), NULL);
}

/* MS_REMOUNT sets all flags at once, so those that are there and not cleared are given again. */
static long change_by_remount(struct run *run, int fd, uint64_t set, uint64_t clear) {
  struct statfs filesystem;
  long error = sys_fstatfs(fd, &filesystem);
  if (error < 0) return error;
  uint64_t attributes = (current_attributes(&filesystem) & ~clear) | set;
  return mount_old(run, NULL, fd, NULL, MS_REMOUNT | MS_BIND | mount_flags(attributes), NULL);
}

long mount_change(struct run *run, int fd, uint64_t set, uint64_t clear) {
  if ((set | clear) == 0) return 0;
  long error = mount_setattr(fd, 0, set, clear, 0);
  return is_refused(error) ? change_by_remount(run, fd, set, clear) : error;
}

long mount_propagate(struct run *run, int fd, uint32_t flags) {
  long error = mount_setattr(fd, flags & MS_REC ? AT_RECURSIVE : 0, 0, 0, flags & ~(uint32_t)MS_REC);
  return is_refused(error) ? mount_old(run, NULL, fd, NULL, flags, NULL) : error;
}

static long propagate_all(struct run *run, int fd, const char *path, const struct list *propagation) {
  for (uint32_t i = 0; i < propagation->count; i++) {
    long error = mount_propagate(run, fd, list_u32(propagation, i));
    if (error < 0) return fail(run, error, path, "mount propagation");
  }
  return 0;
}

/* There is no older way to change a whole tree at once. */
static long change_recursive(struct run *run, int fd, const char *path, const struct attributes *attributes) {
  if ((attributes->recursive_set | attributes->recursive_clear) == 0) return 0;
  long error = mount_setattr(fd, AT_RECURSIVE, attributes->recursive_set, attributes->recursive_clear, 0);
  return error < 0 ? fail(run, error, path, "mount_setattr: recursive mount attributes (Linux 5.12)") : 0;
}

long mount_apply(struct run *run, int fd, const char *path, const struct attributes *attributes) {
  long error = mount_change(run, fd, attributes->set, attributes->clear);
  if (error < 0) return fail(run, error, path, "mount attributes");
  error = change_recursive(run, fd, path, attributes);
  return error < 0 ? error : propagate_all(run, fd, path, attributes->propagation);
}

long mount_move(int fd, int target) {
  return sys(__NR_move_mount, fd, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

long mount_attach(struct run *run, int fd, int target, const char *path, const struct attributes *attributes, bool *attached) {
  *attached = false;
  // Attributes first: the mount is never visible without them.
  long error = 0, late = 0;
  if ((attributes->set | attributes->clear) != 0) late = mount_setattr(fd, 0, attributes->set, attributes->clear, 0);
  if (late < 0 && !is_refused(late)) return fail(run, late, path, "mount_setattr");
  error = change_recursive(run, fd, path, attributes);
  if (error < 0) return error;
  error = mount_move(fd, target);
  if (error < 0) return fail(run, error, path, "move_mount");
  *attached = true;
  if (late < 0 && (error = change_by_remount(run, fd, attributes->set, attributes->clear)) < 0)
    return fail(run, error, path, "mount attributes");
  return propagate_all(run, fd, path, attributes->propagation);
}

int mount_clone(int fd, bool recursive) {
  return sys_open_tree(fd, "", OPEN_TREE_CLONE | AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0));
}

int mount_target(struct run *run, const char *path, uint32_t create, bool directory, unsigned how) {
  static const char *const ordinary = "must be mounted on ordinary directory";
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  enum inroot_make make = create == CREATE_NEVER ? INROOT_EXISTING : directory ? INROOT_DIRECTORY : INROOT_FILE;
  int target = inroot_make(root, path, how, make, 0755);
  if (target < 0) return (int)fail(run, target, path, how & INROOT_NO_LINKS && target == -ELOOP ? ordinary : "mount target");
  struct stat info;
  long error = 0;
  if (inroot_same(target, root)) error = fail(run, -EINVAL, path, "mount target is the root itself");
  else if ((how & INROOT_NO_LINKS) && (sys_fstat(target, &info) < 0 || (info.st_mode & S_IFMT) != S_IFDIR))
    error = fail(run, -ENOTDIR, path, ordinary);
  if (error >= 0) return target;
  sys_close(target);
  return (int)error;
}
