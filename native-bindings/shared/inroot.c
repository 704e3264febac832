#include "inroot.h"

#include "../testing/disabled_defences.h"
#include "str.h"
#include "sys.h"

/* openat2 gives EAGAIN when a rename or mount happens during a lookup of `..`; an attacker could keep it up for ever. */
#define RACE_TRIES 128

static int open2(int root, const char *path, unsigned flags, uint64_t resolve) {
  struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};
  long fd = -EAGAIN;
  for (int i = 0; i < RACE_TRIES && (fd == -EAGAIN || fd == -EINTR); i++) fd = sys(__NR_openat2, root, path, &how, sizeof how);
  return (int)fd;
}

int inroot_open(int root, const char *path, unsigned how) {
  if (DEFENCE_DISABLED(in_root) || DEFENCE_DISABLED(path_descriptors)) return inroot_walk(root, path, how, INROOT_EXISTING, 0);
  uint64_t resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (how & INROOT_NO_LINKS ? RESOLVE_NO_SYMLINKS : 0);
  int fd = open2(root, *path == 0 ? "/" : path, O_PATH | (how & INROOT_NO_FOLLOW ? O_NOFOLLOW : 0), resolve);
  if (is_refused(fd) || fd == -EAGAIN) return inroot_walk(root, path, how, INROOT_EXISTING, 0);
  return fd;
}

/* The directory in which the last mount point was made: the next one is often beside it (inroot_forget). */
static struct {
  bool is_open;
  int fd;
  unsigned how;
  char path[PATH_MAX];
} parent;

void inroot_forget(void) {
  if (parent.is_open) sys_close(parent.fd);
  parent.is_open = false;
}

/* O_DIRECTORY: what somebody else puts there in the meantime, a link above all, is not what was made. */
static int make_in_parent(const char *name, unsigned mode) {
  long error = sys(__NR_mkdirat, parent.fd, name, mode);
  return error < 0 ? (int)error : sys_openat(parent.fd, name, O_PATH | O_NOFOLLOW | O_DIRECTORY, 0);
}

/* The usual case: only the last level is missing. Anything else (-ENOENT) is for the walk, which begins anew. */
static int make_last(int root, const char *path, unsigned how, unsigned mode) {
  const size_t length = strlen(path);
  size_t start = length;
  while (start > 0 && path[start - 1] != '/') start--;
  const char *name = path + start;
  if (start < 2 || start == length || length >= PATH_MAX || text_equal(name, ".") || text_equal(name, "..")) return -ENOENT;
  const bool is_known = parent.is_open && parent.how == how && strlen(parent.path) == start && text_starts_with(path, parent.path);
  if (!is_known) {
    inroot_forget();
    memcpy(parent.path, path, start);
    parent.path[start] = 0;
    parent.how = how;
    parent.fd = inroot_open(root, parent.path, how);
    parent.is_open = parent.fd >= 0;
  }
  int fd = parent.is_open ? make_in_parent(name, mode) : -ENOENT;
  if (fd >= 0) return fd;
  // Below a procfs the walk would find this very descriptor.
  inroot_forget();
  return -ENOENT;
}

int inroot_make(int root, const char *path, unsigned how, enum inroot_make make, unsigned mode, enum inroot_origin *origin) {
  const bool may_be_quick =
      make == INROOT_DIRECTORY && !DEFENCE_DISABLED(make_by_path) && !DEFENCE_DISABLED(in_root) && !DEFENCE_DISABLED(path_descriptors);
  int fd = may_be_quick && parent.is_open ? make_last(root, path, how, mode) : -ENOENT;
  *origin = fd >= 0 ? INROOT_NEW : INROOT_FOUND;
  if (fd >= 0) return fd;
  inroot_forget();
  fd = inroot_open(root, path, how);
  if (fd != -ENOENT || make == INROOT_EXISTING) return fd;
  if (may_be_quick && (fd = make_last(root, path, how, mode)) >= 0) {
    *origin = INROOT_NEW;
    return fd;
  }
  *origin = INROOT_MISSING;
  if (DEFENCE_DISABLED(make_by_path)) sys(__NR_mkdirat, root, path + 1, mode);
  return inroot_walk(root, path, how, make, mode);
}

int inroot_parent(int root, const char *path, unsigned how, const char **name) {
  size_t end = strlen(path);
  while (end > 0 && path[end - 1] == '/') end--;
  size_t start = end;
  while (start > 0 && path[start - 1] != '/') start--;
  *name = path + start;
  if (path[end] != 0 || start == end || text_equal(*name, ".") || text_equal(*name, "..")) return -EINVAL;
  char directory[PATH_MAX];
  if (start >= sizeof directory) return -ENAMETOOLONG;
  memcpy(directory, path, start);
  directory[start] = 0;
  enum inroot_origin origin;
  return inroot_make(root, directory, how, INROOT_DIRECTORY, 0755, &origin);
}

static int beneath_walk(int directory, const char *path, unsigned flags) {
  struct statfs start, here;
  int current = directory;
  long error = sys_fstatfs(directory, &start);
  while (error >= 0) {
    char name[NAME_MAX + 1];
    struct buffer component = BUFFER(name);
    name[0] = 0;
    for (; *path != 0 && *path != '/'; path++) put_bytes(&component, path, 1);
    while (*path == '/') path++;
    bool last = *path == 0;
    if (component.truncated) error = -ENAMETOOLONG;
    else if (name[0] == 0 || text_equal(name, ".") || text_equal(name, "..")) error = -EINVAL;
    else error = sys_openat(current, name, O_NOFOLLOW | (last ? flags : O_PATH | O_DIRECTORY), 0);
    if (current != directory) sys_close(current);
    if (error < 0) break;
    current = (int)error;
    error = sys_fstatfs(current, &here);
    if (error >= 0 && (here.f_type != start.f_type || memcmp(&here.f_fsid, &start.f_fsid, sizeof here.f_fsid) != 0)) error = -EXDEV;
    if (error >= 0 && last) return current;
    if (error < 0) sys_close(current);
  }
  return (int)error;
}

int beneath_open(int directory, const char *path, unsigned flags) {
  int fd = open2(directory, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
  return is_refused(fd) || fd == -EAGAIN ? beneath_walk(directory, path, flags) : fd;
}
