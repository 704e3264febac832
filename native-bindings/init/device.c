/* Nodes, links and directories inside the root. */
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "mount.h"
#include "../shared/sys.h"

long op_directory_create(struct run *run, const struct op_directory_create *op) {
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  enum inroot_origin origin;
  int fd = inroot_make(root, op->path.at, 0, INROOT_DIRECTORY, op->mode, &origin);
  if (fd < 0) return fail(run, fd, op->path.at, "mkdir");
  sys_close(fd);
  return 0;
}

unsigned device_how(const char *path) { return text_starts_with(path, "/dev/") && !DEFENCE_DISABLED(device_link) ? INROOT_NO_LINKS : 0; }

static bool is_link_to(int directory, const char *name, const char *text) {
  char present[PATH_MAX];
  long length = sys(__NR_readlinkat, directory, name, present, sizeof present - 1);
  if (length < 0) return false;
  present[length] = 0;
  return text_equal(present, text);
}

long op_symlink_create(struct run *run, const struct op_symlink_create *op) {
  const char *path = op->path.at, *text = op->text.at, *name;
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  int directory = inroot_parent(root, path, device_how(path), &name);
  if (directory < 0) return fail(run, directory, path, "directory of the link");
  long error = sys(__NR_symlinkat, text, directory, name);
  if (error == -EEXIST && is_link_to(directory, name, text)) {
    error = 0;
  } else if (error == -EEXIST && op->replace) {
    error = sys(__NR_unlinkat, directory, name, 0);
    if (error >= 0) error = sys(__NR_symlinkat, text, directory, name);
  }
  sys_close(directory);
  return finish(run, error, path, "symlink");
}

long change_mode(struct run *run, int fd, unsigned mode) {
  char text[32];
  struct buffer out = BUFFER(text);
  put_text(&out, "self/fd/");
  put_u64(&out, (uint64_t)fd);
  int proc = proc_get(run);
  return proc < 0 ? proc : sys(__NR_fchmodat, proc, text, mode);
}

uint32_t device_number(uint32_t major, uint32_t minor) { return (minor & 0xff) | major << 8 | (minor & ~0xffu) << 12; }

static bool is_device(const struct stat *info, const struct op_device_create *op) {
  if ((info->st_mode & S_IFMT) != op->type) return false;
  return op->type == S_IFIFO || info->st_rdev == device_number(op->major, op->minor);
}

static long verify_device(struct run *run, const struct op_device_create *op, int directory, const char *name, bool made) {
  const char *path = op->path.at;
  int fd = sys_openat(directory, name, O_PATH | O_NOFOLLOW, 0);
  if (fd < 0) return fail(run, fd, path, "open");
  struct stat info;
  long error = sys_fstat(fd, &info);
  if (error >= 0 && !is_device(&info, op) && !DEFENCE_DISABLED(verify_device))
    error = fail(run, -EEXIST, path, "something else is at the path of a device");
  else if (error >= 0 && made) {
    error = sys(__NR_fchownat, fd, "", op->uid, op->gid, AT_EMPTY_PATH);
    // A default ACL may have taken bits away, and a change of owner takes the set-id bits.
    bool lost = (info.st_mode & 07777) != (op->mode & 07777) || (op->mode & 06000) != 0;
    if (error >= 0 && lost) error = change_mode(run, fd, op->mode & 07777);
    if (error < 0) fail(run, error, path, "owner or mode of a device");
  }
  sys_close(fd);
  return error;
}

long op_device_create(struct run *run, const struct op_device_create *op) {
  const char *path = op->path.at, *name;
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  int directory = inroot_parent(root, path, device_how(path), &name);
  if (directory < 0) return fail(run, directory, path, "directory of the device");
  uint32_t number = op->type == S_IFIFO ? 0 : device_number(op->major, op->minor);
  long error = sys(__NR_mknodat, directory, name, op->type | (op->mode & 07777), number);
  bool made = error >= 0;
  if (!made && error != -EEXIST) fail(run, error, path, "mknod");
  else error = verify_device(run, op, directory, name, made);
  sys_close(directory);
  return error;
}

long op_sysctl_write(struct run *run, const struct op_sysctl_write *op) {
  int proc = proc_get(run);
  if (proc < 0) return proc;
  char path[PATH_MAX];
  struct buffer out = BUFFER(path);
  put_text(&out, DEFENCE_DISABLED(held_proc) ? "/proc/sys/" : "sys/");
  put_text(&out, op->key.at);
  if (out.truncated) return fail(run, -ENAMETOOLONG, op->key.at, "sysctl");
  int fd = DEFENCE_DISABLED(held_proc) ? sys_openat(proc, path, O_WRONLY, 0) : beneath_open(proc, path, O_WRONLY);
  if (fd < 0) return fail(run, fd, op->key.at, "open of a sysctl");
  long size = sys_write(fd, op->value.at, op->value.length);
  sys_close(fd);
  return finish(run, size, op->key.at, "write of a sysctl");
}
