#include "mount.h"

#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "../shared/sys.h"

struct flag_pair {
  const char *name;
  uint64_t attribute;
  unsigned long flag;
  unsigned long statfs;
};

static const struct flag_pair FLAGS[] = {
    {"ro", MOUNT_ATTR_RDONLY, MS_RDONLY, STATFS_RDONLY},
    {"nosuid", MOUNT_ATTR_NOSUID, MS_NOSUID, STATFS_NOSUID},
    {"nodev", MOUNT_ATTR_NODEV, MS_NODEV, STATFS_NODEV},
    {"noexec", MOUNT_ATTR_NOEXEC, MS_NOEXEC, STATFS_NOEXEC},
    {"nodiratime", MOUNT_ATTR_NODIRATIME, MS_NODIRATIME, STATFS_NODIRATIME},
    {"nosymfollow", MOUNT_ATTR_NOSYMFOLLOW, MS_NOSYMFOLLOW, STATFS_NOSYMFOLLOW},
};

unsigned long mount_flags(uint64_t attributes) {
  unsigned long flags = 0;
  for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
    if (attributes & FLAGS[i].attribute) flags |= FLAGS[i].flag;
  switch (attributes & MOUNT_ATTR__ATIME) {
  case MOUNT_ATTR_NOATIME: return flags | MS_NOATIME;
  case MOUNT_ATTR_STRICTATIME: return flags | MS_STRICTATIME;
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

int mount_reopen(struct run *run, const char *path, unsigned how, int source) {
  int mount = inroot_open(run->slots[SLOT_ROOT].fd, path, how);
  if (mount < 0) return (int)fail(run, mount, path, "open of the new mount");
  if (DEFENCE_DISABLED(mount_by_path) || (is_same_file(mount, source) && !mount_table_has(run, mount))) return mount;
  sys_close(mount);
  return (int)fail(run, -ESTALE, path, "the mount target was moved");
}

/* MS_REMOUNT sets all flags at once, so those that are there and not cleared are given again. */
static long change_by_remount(struct run *run, int fd, uint64_t set, uint64_t clear) {
  struct statfs filesystem;
  long error = sys_fstatfs(fd, &filesystem);
  if (error < 0) return error;
  uint64_t attributes = (current_attributes(&filesystem) & ~clear) | set;
  return mount_old(run, NULL, fd, NULL, MS_REMOUNT | MS_BIND | mount_flags(attributes), NULL);
}

bool mount_setattr_refused(int fd, long error) {
  // Asking for nothing needs no rights.
  return is_refused(error) && is_refused(mount_setattr(fd, 0, 0, 0, 0));
}

/* mount_setattr knows nosymfollow since Linux 5.14, mount(2) since 5.10. */
static bool needs_remount(int fd, long error, uint64_t attributes) {
  return mount_setattr_refused(fd, error) || (error == -EINVAL && (attributes & MOUNT_ATTR_NOSYMFOLLOW) != 0);
}

long mount_change(struct run *run, int fd, uint64_t set, uint64_t clear) {
  if ((set | clear) == 0) return 0;
  long error = mount_setattr(fd, 0, set, clear, 0);
  return needs_remount(fd, error, set | clear) ? change_by_remount(run, fd, set, clear) : error;
}

/* What the kernel locks in mounts that come from a more privileged namespace (mount_namespaces(7)), beside the access time. */
#define LOCKABLE (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define ACCESS_TIMES (MOUNT_ATTR__ATIME | MOUNT_ATTR_NODIRATIME)

/* Locked flags that the configuration does not name stay: the call is repeated without clearing them. False: what was asked for cannot be had. */
static bool spare_locked(int fd, const struct attributes *asked, uint64_t *set, uint64_t *clear) {
  struct statfs filesystem;
  if (asked->drop == 0 || sys_fstatfs(fd, &filesystem) < 0) return false;
  uint64_t present = current_attributes(&filesystem);
  bool changes_times = (asked->clear & MOUNT_ATTR__ATIME) != 0 && ((present ^ asked->set) & ACCESS_TIMES) != 0;
  if (changes_times || (present & asked->clear & LOCKABLE) != 0) return false;
  *set = asked->set & ~(uint64_t)ACCESS_TIMES;
  *clear = (asked->clear & ~(uint64_t)ACCESS_TIMES) | (asked->drop & ~(present & LOCKABLE));
  return true;
}

/* EPERM comes from flags that were locked when the mount came from a more privileged namespace. */
static long fail_change(struct run *run, long error, int fd, const char *path, const struct attributes *asked) {
  struct statfs filesystem;
  if (error != -EPERM || sys_fstatfs(fd, &filesystem) < 0) return fail(run, error, path, "mount attributes");
  uint64_t present = current_attributes(&filesystem);
  char text[128];
  struct buffer out = BUFFER(text);
  text[0] = 0;
  for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
    if (!(present & asked->clear & ~asked->set & FLAGS[i].attribute)) continue;
    put_text(&out, out.used > 0 ? "," : "cannot clear locked flags ");
    put_text(&out, FLAGS[i].name);
  }
  if (out.used == 0 && (asked->clear & MOUNT_ATTR__ATIME) != 0 && ((present ^ asked->set) & ACCESS_TIMES) != 0)
    put_text(&out, "cannot change locked atime flags");
  return fail(run, error, path, out.used > 0 ? text : "mount attributes");
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

/* No older system call changes a whole tree at once. */
static long change_recursive(struct run *run, int fd, const char *path, const struct attributes *attributes) {
  if ((attributes->recursive_set | attributes->recursive_clear) == 0) return 0;
  uint64_t set = attributes->recursive_set, clear = attributes->recursive_clear;
  long error = mount_setattr(fd, AT_RECURSIVE, set, clear, 0);
  if (error >= 0) return 0;
  if (error == -EINVAL && ((set | clear) & MOUNT_ATTR_NOSYMFOLLOW) != 0)
    return fail(run, error, path, "mount_setattr: rnosymfollow and rsymfollow (Linux 5.14)");
  if (error == -EPERM && !mount_setattr_refused(fd, error))
    return fail(run, error, path, "mount_setattr: recursive mount attributes: cannot change locked flags");
  return fail(run, error, path, "mount_setattr: recursive mount attributes (Linux 5.12)");
}

long mount_protect_tree(int fd) { return mount_setattr(fd, AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0, 0); }

long mount_apply(struct run *run, int fd, const char *path, const struct attributes *attributes) {
  uint64_t set = attributes->set, clear = attributes->clear | attributes->drop;
  long error = mount_change(run, fd, set, clear);
  if (error == -EPERM && spare_locked(fd, attributes, &set, &clear)) error = mount_change(run, fd, set, clear);
  if (error < 0) return fail_change(run, error, fd, path, attributes);
  error = change_recursive(run, fd, path, attributes);
  return error < 0 ? error : propagate_all(run, fd, path, attributes->propagation);
}

long mount_move(int fd, int target) { return sys(__NR_move_mount, fd, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH); }

/* What the test build does in the place of mount_move: the path is looked up once more, by the kernel's own rules. */
static long move_by_path(struct run *run, int fd, const char *path) {
  return sys(__NR_move_mount, fd, "", run->slots[SLOT_ROOT].fd, path + 1, MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS);
}

long mount_attach(struct run *run, int fd, int target, const char *path, const struct attributes *attributes, bool *decided) {
  *decided = false;
  // Attributes first: the mount is never visible without them.
  uint64_t set = attributes->set, clear = attributes->clear | attributes->drop;
  long late = (set | clear) == 0 ? 0 : mount_setattr(fd, 0, set, clear, 0);
  bool missing = late < 0 && needs_remount(fd, late, set | clear);
  if (late == -EPERM && !missing && spare_locked(fd, attributes, &set, &clear)) late = mount_setattr(fd, 0, set, clear, 0);
  *decided = late < 0 && !missing;
  if (*decided) return fail_change(run, late, fd, path, attributes);
  long error = change_recursive(run, fd, path, attributes);
  *decided = error < 0;
  if (error < 0) return error;
  error = DEFENCE_DISABLED(mount_by_path) ? move_by_path(run, fd, path) : mount_move(fd, target);
  if (error < 0) return fail(run, error, path, "move_mount");
  *decided = true;
  if (late < 0) {
    error = change_by_remount(run, fd, set, clear);
    if (error == -EPERM && spare_locked(fd, attributes, &set, &clear)) error = change_by_remount(run, fd, set, clear);
    if (error < 0) return fail_change(run, error, fd, path, attributes);
  }
  return propagate_all(run, fd, path, attributes->propagation);
}

int mount_clone(int fd, bool recursive) { return sys_open_tree(fd, "", OPEN_TREE_CLONE | AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0)); }

/* A link in a hostile root must not lead a mount onto the files of a procfs; a path that names them is the configuration's business. */
static bool is_led_into_proc(struct run *run, int root, int target, const char *path, unsigned how) {
  struct statfs filesystem;
  if (DEFENCE_DISABLED(procfs_link) || sys_fstatfs(target, &filesystem) < 0 || filesystem.f_type != PROC_SUPER_MAGIC) return false;
  int direct = inroot_open(root, path, how | INROOT_NO_LINKS);
  // Somebody may change the links meanwhile: only the same file counts.
  bool same = direct >= 0 && mount_same(run, direct, target);
  if (direct >= 0) sys_close(direct);
  return !same;
}

int mount_target(struct run *run, const char *path, uint32_t create, bool directory, unsigned how, bool *was_missing) {
  static const char *const ordinary = "must be mounted on ordinary directory";
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  if (DEFENCE_DISABLED(plain_directory)) how &= ~(unsigned)INROOT_NO_LINKS;
  enum inroot_make make = create == CREATE_NEVER ? INROOT_EXISTING : directory ? INROOT_DIRECTORY : INROOT_FILE;
  enum inroot_origin origin;
  int target = inroot_make(root, path, how, make, 0755, &origin);
  *was_missing = origin != INROOT_FOUND;
  if (target < 0) return (int)fail(run, target, path, how & INROOT_NO_LINKS && directory && target == -ELOOP ? ordinary : "mount target");
  // A directory that was missing is neither the root nor in a procfs.
  if (origin == INROOT_NEW) return target;
  struct stat info;
  long error = 0;
  if (mount_same(run, target, root)) error = fail(run, -EINVAL, path, "mount target is the root itself");
  else if ((how & INROOT_NO_LINKS) && directory && (sys_fstat(target, &info) < 0 || (info.st_mode & S_IFMT) != S_IFDIR))
    error = fail(run, -ENOTDIR, path, ordinary);
  else if (is_led_into_proc(run, root, target, path, how))
    error = fail(run, -ELOOP, path, "a symlink leads the mount target into a procfs");
  if (error >= 0) return target;
  sys_close(target);
  return (int)error;
}
