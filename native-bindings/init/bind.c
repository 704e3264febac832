/* Binds: a detached clone taken from the source's path, attached inside the root. */
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "mount.h"
#include "source.h"
#include "../shared/sys.h"

/* In a user namespace: sources that init may not reach, or only with the mounts that are locked below them. */
static bool needs_host(const struct run *run, long error) {
  return run->is_init && run->init.sources >= 0 && (error == -EACCES || error == -EINVAL);
}

static long open_source(struct run *run, const struct op_mount_open *op) {
  struct slot opened = {.source = op->source.at, .recursive = op->recursive, .is_detached = true, .is_foreign = !run->is_init};
  opened.fd = sys_open_tree(AT_FDCWD, op->source.at, OPEN_TREE_CLONE | (op->recursive ? AT_RECURSIVE : 0));
  if (is_refused(opened.fd)) {
    // The fallback keeps the path: a bind needs a source in the mount namespace in which it is made.
    opened.fd = sys_openat(AT_FDCWD, op->source.at, O_PATH, 0);
    opened.is_detached = false;
  }
  if (opened.fd < 0) return fail(run, opened.fd, op->source.at, opened.is_detached ? "open_tree" : "open");
  return slot_fill(run, op->slot, &opened);
}

long op_mount_open(struct run *run, const struct op_mount_open *op) {
  long error = open_source(run, op);
  return needs_host(run, error) ? source_open(run, op->slot, op->source.at) : error;
}

/* 1 = it is a link, and stands in the slot. */
static long keep_link(struct run *run, const struct op_mount_open_link *op) {
  struct stat info;
  int fd = sys_openat(AT_FDCWD, op->source.at, O_PATH | O_NOFOLLOW, 0);
  if (fd < 0) return fail(run, fd, op->source.at, "open");
  long error = sys_fstat(fd, &info);
  if (error >= 0 && (info.st_mode & S_IFMT) == S_IFLNK) {
    error = slot_fill(run, op->slot, &(struct slot){.fd = fd, .is_link = true});
    return error < 0 ? error : 1;
  }
  sys_close(fd);
  return finish(run, error, op->source.at, "fstat");
}

/* What was opened is compared, and not the path once more: whoever has checked the source may have seen another file there. */
static long check_identity(struct run *run, const struct op_mount_open_link *op, int fd) {
  struct stat info;
  if (op->inode == 0) return 0;
  long error = sys_fstat(fd, &info);
  if (error < 0) return fail(run, error, op->source.at, "fstat");
  bool same = info.st_ino == op->inode && info.st_dev == op->device;
  return same ? 0 : fail(run, -ESTALE, op->source.at, "the source is another file than the one that was checked");
}

static long open_link(struct run *run, const struct op_mount_open_link *op) {
  if (op->copy) {
    const struct op_mount_open ordinary = {.source = op->source, .recursive = op->recursive, .slot = op->slot};
    long kept = keep_link(run, op);
    return kept == 0 ? open_source(run, &ordinary) : kept < 0 ? kept : 0;
  }
  unsigned flags = OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW | (op->recursive ? AT_RECURSIVE : 0);
  int fd = sys_open_tree(AT_FDCWD, op->source.at, flags);
  if (fd < 0) return fail(run, fd, op->source.at, is_refused(fd) ? "open_tree: src-nofollow needs it" : "open_tree");
  long error = check_identity(run, op, fd);
  if (error < 0) {
    sys_close(fd);
    return error;
  }
  const struct slot opened = {.fd = fd, .source = op->source.at, .is_detached = true, .is_unique = true, .is_foreign = !run->is_init};
  return slot_fill(run, op->slot, &opened);
}

long op_mount_open_link(struct run *run, const struct op_mount_open_link *op) {
  long error = open_link(run, op);
  return needs_host(run, error) ? source_open(run, op->slot, op->source.at) : error;
}

long op_root_propagation(struct run *run, const struct op_root_propagation *op) {
  long error = sys_mount(NULL, "/", NULL, op->flags, NULL);
  if (error < 0) return fail(run, error, "/", "mount propagation");
  run->init.propagation = op->flags;
  return 0;
}

/* A tree cloned in the host's namespace is a peer of the host's mounts; it becomes what root.propagation would have made it,
 * or mounts below it would appear on the host. */
static long adopt_propagation(struct run *run, int fd, bool attached) {
  uint32_t type = run->init.propagation & (MS_SLAVE | MS_PRIVATE);
  if (type == 0) return 0;
  if (attached) return mount_propagate(run, fd, type | MS_REC);
  return mount_setattr(fd, AT_RECURSIVE, 0, 0, type);
}

static long attach_detached(struct run *run, struct slot *slot, int target, const char *path, const struct attributes *attributes,
                            bool *decided) {
  long adopted = slot->is_foreign ? adopt_propagation(run, slot->fd, false) : 0;
  long error = mount_attach(run, slot->fd, target, path, attributes, decided);
  if (error >= 0 && adopted < 0) {
    error = adopt_propagation(run, slot->fd, true);
    if (error < 0) return fail(run, error, path, "mount propagation");
  }
  return error;
}

/* "/proc", in whatever form it is written. */
static bool names_proc(const char *path) {
  unsigned depth = 0;
  bool first = false;
  while (*path != 0) {
    const char *slash = text_find(path, '/');
    size_t length = slash == NULL ? strlen(path) : (size_t)(slash - path);
    if (length == 2 && memcmp(path, "..", 2) == 0) depth -= depth > 0;
    else if (length > 0 && !(length == 1 && *path == '.') && depth++ == 0) first = length == 4 && memcmp(path, "proc", 4) == 0;
    path += length + (slash != NULL);
  }
  return depth == 1 && first;
}

/* CVE-2019-16884: what is written to files of /proc for the container must not go elsewhere. */
static long check_proc(struct run *run, int source, bool is_link, const char *path) {
  struct statfs filesystem;
  if (DEFENCE_DISABLED(config_checks) || !names_proc(path)) return 0;
  long error = sys_fstatfs(source, &filesystem);
  if (error < 0) return fail(run, error, path, "statfs of the source");
  if (filesystem.f_type == PROC_SUPER_MAGIC && !is_link) return 0;
  return fail(run, -EINVAL, path, "cannot be mounted because it is not of type proc");
}

static long bind_by_path(struct run *run, struct slot *slot, int target, const char *path, unsigned how,
                         const struct attributes *attributes) {
  if (slot->source == NULL) return fail(run, -EBADF, path, "not the source of a mount");
  int source = sys_openat(AT_FDCWD, slot->source, O_PATH, 0);
  if (source < 0) return fail(run, source, slot->source, "open");
  long error = check_proc(run, source, false, path);
  if (error >= 0) error = mount_table_read(run);
  if (error >= 0 && (error = mount_old_bind(run, source, target, slot->recursive)) < 0) fail(run, error, path, "mount");
  int mount = error < 0 ? (int)error : mount_reopen(run, path, how, source);
  sys_close(source);
  if (mount < 0) return mount;
  error = mount_apply(run, mount, path, attributes);
  sys_close(mount);
  return error;
}

static long make_link(struct run *run, int link, const char *path) {
  char text[PATH_MAX];
  long length = sys(__NR_readlinkat, link, "", text, sizeof text - 1);
  if (length < 0) return fail(run, length, path, "readlink of the source");
  text[length] = 0;
  const struct op_symlink_create op = {.path = {path, (uint32_t)strlen(path)}, .text = {text, (uint32_t)length}};
  return op_symlink_create(run, &op);
}

/* The root of the mount gets the mode of the directory that it covers, unless that directory was only made to mount on. */
static long inherit_mode(struct run *run, int mount, int target, const char *path) {
  struct stat info;
  long error = sys_fstat(target, &info);
  if (error >= 0) error = change_mode(run, mount, info.st_mode & 07777);
  return finish(run, error, path, "mode of the directory that is covered");
}

static long attach(struct run *run, struct slot *slot, const struct op_mount_bind *op, bool directory) {
  struct attributes attributes = ATTRIBUTES(op);
  attributes.drop = op->attr_drop;
  const char *path = op->target.at;
  unsigned how = op->create == CREATE_NOT_FOLLOWED ? INROOT_NO_FOLLOW : op->create == CREATE_FILE ? device_how(path) : 0;
  bool was_missing;
  int target = mount_target(run, path, op->create, directory, how, &was_missing);
  if (target < 0) return target;
  bool decided = false;
  long error = op->create == CREATE_WITH_MODE && !was_missing ? inherit_mode(run, slot->fd, target, path) : 0;
  bool detached = slot->is_detached && !DEFENCE_DISABLED(source_by_path);
  if (error >= 0) error = detached ? attach_detached(run, slot, target, path, &attributes, &decided) : -ENOSYS;
  if (is_refused(error) && !decided && (!slot->is_unique || DEFENCE_DISABLED(source_by_path)))
    error = bind_by_path(run, slot, target, path, how, &attributes);
  sys_close(target);
  return error;
}

long op_mount_bind(struct run *run, const struct op_mount_bind *op) {
  int fd = slot_get(run, op->slot);
  if (fd < 0) return fd;
  struct slot *slot = &run->slots[op->slot];
  struct stat info;
  bool directory = op->create == CREATE_DIRECTORY || op->create == CREATE_WITH_MODE;
  if (op->create == CREATE_LIKE_SOURCE || op->create == CREATE_NOT_FOLLOWED) {
    long error = sys_fstat(fd, &info);
    if (error < 0) return fail(run, error, slot->source, "fstat");
    directory = (info.st_mode & S_IFMT) == S_IFDIR;
  }
  long error = check_proc(run, fd, slot->is_link, op->target.at);
  if (error >= 0) error = slot->is_link ? make_link(run, fd, op->target.at) : attach(run, slot, op, directory);
  slot_close(run, op->slot);
  return error;
}
