/* New filesystem instances and remounts. */
#include "../shared/inroot.h"
#include "mount.h"
#include "prepare.h"
#include "../shared/sys.h"

/* fsconfig takes strings of at most 255 bytes (fs/fsopen.c); longer ones, of overlays, need mount(2). */
#define VALUE_MAX 255
#define PAGE 4096

struct super_option {
  uint64_t flag;
  const char *set, *clear;
};

static const struct super_option SUPER_OPTIONS[] = {
    {MS_RDONLY, "ro", "rw"},         {MS_SYNCHRONOUS, "sync", "async"}, {MS_DIRSYNC, "dirsync", NULL},
    {MS_LAZYTIME, "lazytime", NULL}, {MS_MANDLOCK, "mand", NULL},
};

/* Superblock flags that only mount(2) can set: fsconfig has no word for them. */
#define FLAGS_OF_MOUNT MS_I_VERSION

/* The kernel's own words about a refused option: the last error in the context's log. */
static void read_log(int context, char *text, size_t size) {
  text[0] = 0;
  for (;;) {
    char message[256];
    long length = sys_read(context, message, sizeof message - 1);
    if (length <= 0) return;
    while (length > 0 && message[length - 1] == '\n') length--;
    message[length] = 0;
    if (length < 2 || message[0] != 'e') continue;
    struct buffer out = {text, size, 0, false};
    put_text(&out, message + 2);
  }
}

static long fail_context(struct run *run, int context, long error, const char *path, const char *call) {
  char log[256];
  read_log(context, log, sizeof log);
  return fail_detail(run, error, path, call, log);
}

static long set_flag(int context, const char *key) { return sys(__NR_fsconfig, context, FSCONFIG_SET_FLAG, key, NULL, 0); }

static long set_option(int context, const char *option) {
  const char *equals = text_find(option, '=');
  if (equals == NULL) return set_flag(context, option);
  char key[VALUE_MAX + 1];
  struct buffer out = BUFFER(key);
  put_bytes(&out, option, (size_t)(equals - option));
  return out.truncated ? -EINVAL : sys(__NR_fsconfig, context, FSCONFIG_SET_STRING, key, equals + 1, 0);
}

static long configure(int context, const struct list *data, uint64_t super_flags, bool reconfigure) {
  long error = 0;
  for (size_t i = 0; i < sizeof SUPER_OPTIONS / sizeof *SUPER_OPTIONS && error >= 0; i++) {
    const struct super_option *option = &SUPER_OPTIONS[i];
    if (super_flags & option->flag) error = set_flag(context, option->set);
    else if (reconfigure && option->clear != NULL) error = set_flag(context, option->clear);
  }
  const uint8_t *at = data->at;
  for (uint32_t i = 0; i < data->count && error >= 0; i++) error = set_option(context, list_text(&at).at);
  return error;
}

static bool fits_fsconfig(const struct op_mount_filesystem *op) {
  const uint8_t *at = op->data.at;
  if (op->source.length > VALUE_MAX || (op->super_flags & FLAGS_OF_MOUNT) != 0) return false;
  for (uint32_t i = 0; i < op->data.count; i++)
    if (list_text(&at).length > VALUE_MAX) return false;
  return true;
}

/* Labels of security modules have commas of their own. */
static bool is_label(const char *option) {
  static const char *const KEYS[] = {"context=", "fscontext=", "defcontext=", "rootcontext="};
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
    if (text_starts_with(option, KEYS[i])) return true;
  return false;
}

/* A word may be several options, "size=64m,mode=755". The kernel splits it for mount(2), and takes it as one value for fsconfig. */
static bool has_joined(const struct list *data) {
  const uint8_t *at = data->at;
  for (uint32_t i = 0; i < data->count; i++) {
    const char *option = list_text(&at).at;
    if (text_find(option, ',') != NULL && !is_label(option)) return true;
  }
  return false;
}

static bool has_mode(const struct list *data) {
  const uint8_t *at = data->at;
  for (uint32_t i = 0; i < data->count; i++)
    if (text_starts_with(list_text(&at).at, "mode=")) return true;
  return false;
}

/* Opens the directory that the mount is going to cover. */
struct covered {
  int fd;
  bool was_missing;
};

/* "mode=755" of the covered directory, or "": one that was made for the mount has no mode to give, and a tmpfs then is 1777. */
static void inherited_mode(const struct op_mount_filesystem *op, const struct covered *target, char *text, size_t size) {
  struct buffer out = {text, size, 0, false};
  struct stat info;
  text[0] = 0;
  if (!op->inherit_mode || target->was_missing || has_mode(&op->data) || sys_fstat(target->fd, &info) < 0) return;
  put_text(&out, "mode=");
  put_octal(&out, info.st_mode & 07777);
}

/* fsmount knows nosymfollow since Linux 5.14; it is `late` where it has to be set afterwards. */
static int mount_context(int context, uint64_t attributes, uint64_t *late) {
  int mount = (int)sys(__NR_fsmount, context, FSMOUNT_CLOEXEC, attributes);
  *late = 0;
  if (mount != -EINVAL || (attributes & MOUNT_ATTR_NOSYMFOLLOW) == 0) return mount;
  *late = MOUNT_ATTR_NOSYMFOLLOW;
  return (int)sys(__NR_fsmount, context, FSMOUNT_CLOEXEC, attributes & ~(uint64_t)MOUNT_ATTR_NOSYMFOLLOW);
}

/* A detached mount. `mode` is an option more, or "". */
static int make_detached(struct run *run, const struct instance *new, const char *mode, const char *path, uint64_t *late) {
  int context = (int)sys(__NR_fsopen, new->fstype, FSOPEN_CLOEXEC);
  if (context < 0) return (int)fail_detail(run, context, path, "fsopen", new->fstype);
  long error = 0;
  if (new->source[0] != 0) error = sys(__NR_fsconfig, context, FSCONFIG_SET_STRING, "source", new->source, 0);
  if (error >= 0 && mode[0] != 0) error = set_option(context, mode);
  if (error >= 0) error = configure(context, new->data, new->super_flags, false);
  if (error >= 0) error = sys(__NR_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
  int mount = error < 0 ? (int)error : mount_context(context, new->attributes, late);
  if (mount < 0) mount = (int)fail_context(run, context, mount, path, error < 0 ? "fsconfig" : "fsmount");
  sys_close(context);
  return mount;
}

static long make_new(struct run *run, const struct op_mount_filesystem *op, const struct covered *target, bool *decided) {
  const struct instance new = {op->fstype.at, op->source.at, &op->data, op->super_flags, op->attr_set | op->recursive_set};
  char mode[32];
  struct attributes attributes = {0, 0, 0, 0, &op->propagation, 0};
  inherited_mode(op, target, mode, sizeof mode);
  int mount = mode[0] == 0 ? prepared_take(run, &new) : -1;
  if (mount < 0) mount = make_detached(run, &new, mode, op->target.at, &attributes.set);
  if (mount < 0) return mount;
  long error = mount_attach(run, mount, target->fd, op->target.at, &attributes, decided);
  sys_close(mount);
  return error;
}

long op_mount_make(struct run *run, const struct op_mount_make *op) {
  const struct instance new = {op->fstype.at, op->source.at, &op->data, op->super_flags, op->attr_set};
  uint64_t late = 0;
  int mount = make_detached(run, &new, "", op->source.at, &late);
  if (mount < 0) return mount;
  if (late != 0) {
    sys_close(mount);
    return fail(run, -EINVAL, op->source.at, "fsmount: nosymfollow on an id-mapped filesystem (Linux 5.14)");
  }
  const struct slot made = {.fd = mount, .source = op->source.at, .is_detached = true, .is_unique = true, .is_foreign = !run->is_init};
  return slot_fill(run, op->slot, &made);
}

/* Only quotes tell the commas of a label from those between options; fsconfig needs none. */
static void put_option(struct buffer *out, const char *option) {
  const char *equals = text_find(option, '=');
  if (!is_label(option) || text_find(option, ',') == NULL) return put_text(out, option);
  put_bytes(out, option, (size_t)(equals + 1 - option));
  put_text(out, "\"");
  put_text(out, equals + 1);
  put_text(out, "\"");
}

static long join_data(const struct list *data, const char *mode, struct buffer *out) {
  const uint8_t *at = data->at;
  out->at[0] = 0;
  put_text(out, mode);
  for (uint32_t i = 0; i < data->count; i++) {
    if (out->used > 0) put_text(out, ",");
    put_option(out, list_text(&at).at);
  }
  return out->truncated ? -E2BIG : 0;
}

static long make_old(struct run *run, const struct op_mount_filesystem *op, const struct covered *target) {
  const char *path = op->target.at;
  char mode[32], data[PAGE];
  struct buffer out = BUFFER(data);
  inherited_mode(op, target, mode, sizeof mode);
  long error = join_data(&op->data, mode, &out);
  if (error < 0) return fail(run, error, path, "mount data are longer than a page");
  unsigned long flags = mount_flags(op->attr_set | op->recursive_set) | (unsigned long)op->super_flags;
  error = mount_old(run, op->source.at, target->fd, op->fstype.at, flags, data);
  if (error < 0) return fail_detail(run, error, path, "mount", op->fstype.at);
  int mount = inroot_open(run->slots[SLOT_ROOT].fd, path, 0);
  if (mount < 0) return fail(run, mount, path, "open of the new mount");
  const struct attributes attributes = {0, 0, 0, 0, &op->propagation, 0};
  error = mount_same(run, mount, target->fd) ? fail(run, -ESTALE, path, "the mount target was moved")
                                             : mount_apply(run, mount, path, &attributes);
  sys_close(mount);
  return error;
}

long op_mount_filesystem(struct run *run, const struct op_mount_filesystem *op) {
  struct covered target;
  target.fd = mount_target(run, op->target.at, CREATE_DIRECTORY, true, op->ordinary_directory ? INROOT_NO_LINKS : 0, &target.was_missing);
  if (target.fd < 0) return target.fd;
  // The name of an overlay's directory may have a comma: such a word is split only if fsconfig does not take it.
  bool decided = false, joined = has_joined(&op->data), splits = joined && !text_equal(op->fstype.at, "overlay");
  long error = fits_fsconfig(op) && !splits ? make_new(run, op, &target, &decided) : -ENOSYS;
  if (error < 0 && (joined || is_refused(error)) && !decided) error = make_old(run, op, &target);
  sys_close(target.fd);
  return error;
}

/* A container without a cgroup sees nothing of the host's cgroups. */
static long cover(struct run *run, const struct op_mount_cgroup *op) {
  struct op_mount_filesystem tmpfs = {.target = op->target, .propagation = op->propagation};
  tmpfs.fstype = tmpfs.source = (struct text){"tmpfs", 5};
  tmpfs.attr_set = op->attr_set | MOUNT_ATTR_RDONLY;
  return op_mount_filesystem(run, &tmpfs);
}

long op_mount_cgroup(struct run *run, const struct op_mount_cgroup *op) {
  struct op_mount_filesystem filesystem = {.target = op->target, .propagation = op->propagation};
  filesystem.fstype = (struct text){"cgroup2", 7};
  filesystem.source = (struct text){"cgroup", 6};
  filesystem.attr_set = op->attr_set;
  filesystem.recursive_set = op->recursive_set;
  long error = op_mount_filesystem(run, &filesystem);
  if (error != -EPERM && error != -EBUSY) {
    if (op->slot != NO_SLOT) slot_close(run, op->slot);
    return error;
  }
  if (op->slot == NO_SLOT) return cover(run, op);
  const struct op_mount_bind bind = {
      .slot = op->slot,
      .target = op->target,
      .create = CREATE_DIRECTORY,
      .attr_set = op->attr_set,
      .attr_clear = op->attr_clear,
      .recursive_set = op->recursive_set,
      .recursive_clear = op->recursive_clear,
      .propagation = op->propagation,
  };
  return op_mount_bind(run, &bind);
}

static long remount_superblock(struct run *run, const struct op_mount_remount *op, int target) {
  const char *path = op->target.at;
  bool old = (op->super_flags & FLAGS_OF_MOUNT) != 0 || has_joined(&op->data);
  int context = old ? -ENOSYS : (int)sys(__NR_fspick, target, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);
  if (is_refused(context)) {
    char data[PAGE];
    struct buffer out = BUFFER(data);
    long error = join_data(&op->data, "", &out);
    if (error >= 0)
      error = mount_old(run, NULL, target, NULL, MS_REMOUNT | (unsigned long)op->super_flags | mount_flags(op->attr_set), data);
    return finish(run, error, path, "mount");
  }
  if (context < 0) return fail(run, context, path, "fspick");
  long error = configure(context, &op->data, op->super_flags, true);
  if (error >= 0) error = sys(__NR_fsconfig, context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0);
  if (error < 0) error = fail_context(run, context, error, path, "fsconfig");
  sys_close(context);
  return error;
}

/* Whatever is changed, the kernel says so by itself. */
static long need_mount(struct run *run, int fd, const char *path) {
  struct statx info;
  long error = sys(__NR_statx, fd, "", AT_EMPTY_PATH, STATX_INO, &info);
  if (error < 0 || (info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0 || (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) return 0;
  return fail(run, -EINVAL, path, "nothing is mounted here that could be remounted");
}

long op_mount_remount(struct run *run, const struct op_mount_remount *op) {
  const struct attributes attributes = ATTRIBUTES(op);
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  int target = inroot_open(root, op->target.at, 0);
  if (target < 0) return fail(run, target, op->target.at, "mount target");
  bool changes = (op->attr_set | op->attr_clear | op->recursive_set | op->recursive_clear) != 0 || op->propagation.count > 0;
  long error = op->superblock ? remount_superblock(run, op, target) : changes ? 0 : need_mount(run, target, op->target.at);
  if (error >= 0) error = mount_apply(run, target, op->target.at, &attributes);
  sys_close(target);
  return error;
}
