/* Copies what a tmpfs covers into it (the mount option tmpcopyup). The source is the container's, and so hostile: nothing of it is
 * followed, and only files, directories and links are taken. */
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "mount.h"
#include "run.h"
#include "../shared/sys.h"

/* Each level holds two descriptors and a block of the stack. */
#define DEPTH_MAX 100
#define CHUNK (1024 * 1024)

static long copy_tree(struct run *run, int from, int to, unsigned depth);

/* Ids that the user namespace, or the map of the mount, does not have cannot be given away: such a file stays the user's own. */
static long give(long error) { return error == -EPERM || error == -EINVAL || error == -EOVERFLOW ? 0 : error; }

static long give_and_protect(int fd, const struct stat *info) {
  long error = give(sys(__NR_fchown, fd, info->st_uid, info->st_gid));
  // After the owner: a change of it clears set-id bits.
  return error < 0 ? error : sys(__NR_fchmod, fd, info->st_mode & 07777);
}

static long copy_file(int from, int to, const char *name) {
  // O_NONBLOCK: a FIFO may have taken the name meanwhile.
  int in = sys_openat(from, name, DEFENCE_DISABLED(copy_kinds) ? O_RDONLY : O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
  if (in < 0) return in;
  struct stat info;
  long error = sys_fstat(in, &info);
  if (error >= 0 && (info.st_mode & S_IFMT) != S_IFREG) error = -ESTALE;
  int out = error < 0 ? (int)error : sys_openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (out < 0) {
    sys_close(in);
    return out;
  }
  do error = sys(__NR_sendfile, out, in, NULL, CHUNK);
  while (error > 0);
  if (error >= 0) error = give_and_protect(out, &info);
  sys_close(in);
  sys_close(out);
  return error;
}

static long copy_link(int from, int to, const char *name, const struct stat *info) {
  char text[PATH_MAX];
  long length = sys(__NR_readlinkat, from, name, text, sizeof text - 1);
  if (length < 0) return length;
  text[length] = 0;
  long error = sys(__NR_symlinkat, text, to, name);
  return error < 0 ? error : give(sys(__NR_fchownat, to, name, info->st_uid, info->st_gid, AT_SYMLINK_NOFOLLOW));
}

static long copy_directory(struct run *run, int from, int to, const char *name, const struct stat *info, unsigned depth) {
  long error = sys(__NR_mkdirat, to, name, 0700);
  if (error < 0) return error;
  int source = sys_openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  int target = source < 0 ? source : sys_openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  error = target < 0 ? target : copy_tree(run, source, target, depth);
  if (error >= 0) error = give_and_protect(target, info);
  if (source >= 0) sys_close(source);
  if (target >= 0) sys_close(target);
  return error;
}

static long copy_entry(struct run *run, int from, int to, const char *name, unsigned depth) {
  struct stat info;
  long error = sys(__NR_newfstatat, from, name, &info, AT_SYMLINK_NOFOLLOW);
  if (error < 0) return error;
  if (DEFENCE_DISABLED(copy_kinds) && (info.st_mode & S_IFMT) != S_IFDIR) return copy_file(from, to, name);
  switch (info.st_mode & S_IFMT) {
  case S_IFREG: return copy_file(from, to, name);
  case S_IFLNK: return copy_link(from, to, name, &info);
  case S_IFDIR: return copy_directory(run, from, to, name, &info, depth);
  default: warn(run, -EINVAL, name, "a special file is not copied into a tmpfs"); return 0;
  }
}

static bool is_dots(const char *name) { return text_equal(name, ".") || text_equal(name, ".."); }

static long copy_tree(struct run *run, int from, int to, unsigned depth) {
  _Alignas(struct directory_entry) char block[2048];
  if (depth > DEPTH_MAX) return -ELOOP;
  for (;;) {
    long size = sys(__NR_getdents64, from, block, sizeof block);
    if (size <= 0) return size;
    for (long offset = 0; offset < size;) {
      const struct directory_entry *entry = (const struct directory_entry *)(block + offset);
      offset += entry->length;
      long error = is_dots(entry->name) ? 0 : copy_entry(run, from, to, entry->name, depth + 1);
      if (error < 0) return error;
    }
  }
}

long op_directory_open(struct run *run, const struct op_directory_open *op) {
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  int directory = inroot_open(root, op->path.at, 0);
  if (directory == -ENOENT || directory == -ENOTDIR) return 0;
  int fd = directory < 0 ? directory : sys_openat(directory, ".", O_RDONLY | O_DIRECTORY, 0);
  if (directory >= 0) sys_close(directory);
  if (fd < 0) return fail(run, fd, op->path.at, "open of a directory to be covered");
  return slot_put(run, op->slot, fd);
}

/* Whether one directory is mounted over the other, going by what is above both. */
static bool covers(struct run *run, int mount, int covered) {
  int above = sys_openat(mount, "..", O_PATH | O_DIRECTORY, 0), beside = sys_openat(covered, "..", O_PATH | O_DIRECTORY, 0);
  bool same = above >= 0 && beside >= 0 && mount_same(run, above, beside) && !mount_same(run, mount, covered);
  if (above >= 0) sys_close(above);
  if (beside >= 0) sys_close(beside);
  return same || DEFENCE_DISABLED(mount_by_path);
}

long op_directory_copy(struct run *run, const struct op_directory_copy *op) {
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  if (op->slot == NO_SLOT) return slot_get(run, op->slot);
  if (run->slots[op->slot].fd < 0) return 0;
  int mount = inroot_open(root, op->path.at, 0);
  int target = mount < 0 ? mount : sys_openat(mount, ".", O_RDONLY | O_DIRECTORY, 0);
  // Somebody may have moved another directory there since the tmpfs was mounted.
  long error = target < 0                                      ? target
               : !covers(run, target, run->slots[op->slot].fd) ? -ESTALE
                                                               : copy_tree(run, run->slots[op->slot].fd, target, 0);
  if (mount >= 0) sys_close(mount);
  if (target >= 0) sys_close(target);
  slot_close(run, op->slot);
  return finish(run, error, op->path.at, "copy into the tmpfs");
}
