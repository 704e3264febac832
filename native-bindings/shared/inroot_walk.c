/* In-root resolution one component at a time, on held descriptors, with O_NOFOLLOW: what openat2 cannot do (make what is
 * missing) or is not allowed to do. A symlink is read and its text takes the place of the component. */
#include "inroot.h"

#include "../testing/disabled_defences.h"
#include "kernel.h"
#include "str.h"
#include "sys.h"

#define LINKS_MAX 40
/* Attempts: somebody else may make or remove what the walk is about to make. */
#define RACE_TRIES 16

struct walk {
  int root, here;
  unsigned how, mode;
  enum inroot_make make;
  unsigned links;
  /* Components between the root and `here`; none of them is a link. */
  char done[PATH_MAX];
  size_t done_length;
  /* What is still to be resolved. */
  char rest[PATH_MAX];
};

static void move_to(struct walk *walk, int fd) {
  if (walk->here >= 0) sys_close(walk->here);
  walk->here = fd;
}

static int duplicate(int fd) { return (int)sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC, 3); }

/* `..` is a new walk along `done`: the kernel's own `..` could lead outside when a directory was moved. */
static long step_up(struct walk *walk) {
  while (walk->done_length > 0 && walk->done[walk->done_length - 1] != '/') walk->done_length--;
  if (walk->done_length > 0) walk->done_length--;
  walk->done[walk->done_length] = 0;
  int fd = DEFENCE_DISABLED(in_root) ? sys_openat(walk->here, "..", O_PATH, 0) : duplicate(walk->root);
  for (const char *at = DEFENCE_DISABLED(in_root) ? "" : walk->done; fd >= 0 && *at != 0;) {
    char name[NAME_MAX + 1];
    struct buffer component = BUFFER(name);
    for (; *at != 0 && *at != '/'; at++) put_bytes(&component, at, 1);
    while (*at == '/') at++;
    int next = sys_openat(fd, name, O_PATH | O_NOFOLLOW | O_DIRECTORY, 0);
    sys_close(fd);
    fd = next;
  }
  if (fd < 0) return fd;
  move_to(walk, fd);
  return 0;
}

static long expand_link(struct walk *walk, int link) {
  char text[PATH_MAX];
  struct buffer whole = BUFFER(text);
  if (++walk->links > LINKS_MAX) return -ELOOP;
  long length = sys(__NR_readlinkat, link, "", text, sizeof text);
  if (length < 0) return length;
  if (length == 0) return -ENOENT;
  if ((size_t)length >= sizeof text) return -ENAMETOOLONG;
  whole.used = (size_t)length;
  text[length] = 0;
  if (walk->rest[0] != 0) put_text(&whole, "/");
  put_text(&whole, walk->rest);
  if (whole.truncated) return -ENAMETOOLONG;
  memcpy(walk->rest, text, whole.used + 1);
  if (text[0] != '/') return 0;
  int fd = DEFENCE_DISABLED(in_root) ? sys_openat(AT_FDCWD, "/", O_PATH, 0) : duplicate(walk->root);
  if (fd < 0) return fd;
  move_to(walk, fd);
  walk->done_length = 0;
  walk->done[0] = 0;
  return 0;
}

static long make_component(struct walk *walk, const char *name, bool last) {
  if (!last || walk->make == INROOT_DIRECTORY) return sys(__NR_mkdirat, walk->here, name, walk->mode);
  long fd = sys_openat(walk->here, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_NONBLOCK, 0644);
  if (fd >= 0) sys_close((int)fd);
  return fd < 0 ? fd : 0;
}

static long open_component(struct walk *walk, const char *name, bool last) {
  for (int i = 0; i < RACE_TRIES; i++) {
    long fd = sys_openat(walk->here, name, (DEFENCE_DISABLED(path_descriptors) ? O_RDONLY : O_PATH) | O_NOFOLLOW, 0);
    if (fd != -ENOENT || walk->make == INROOT_EXISTING) return fd;
    long error = make_component(walk, name, last);
    if (error < 0 && error != -EEXIST) return error;
  }
  return -EAGAIN;
}

/* Takes the next component off `rest`; false if nothing is left. */
static bool take_component(struct walk *walk, struct buffer *component) {
  char *at = walk->rest;
  while (*at == '/') at++;
  if (*at == 0) return false;
  for (; *at != 0 && *at != '/'; at++) put_bytes(component, at, 1);
  memmove(walk->rest, at, strlen(at) + 1);
  return true;
}

static bool is_last(const struct walk *walk) {
  const char *at = walk->rest;
  while (*at == '/') at++;
  return *at == 0;
}

static long step(struct walk *walk, const char *name) {
  if (text_equal(name, ".")) return 0;
  if (text_equal(name, "..")) return step_up(walk);
  bool last = is_last(walk);
  long fd = open_component(walk, name, last);
  if (fd < 0) return fd;
  struct stat info;
  long error = sys_fstat((int)fd, &info);
  bool is_link = error >= 0 && (info.st_mode & S_IFMT) == S_IFLNK;
  if (is_link && (walk->how & INROOT_NO_LINKS)) error = -ELOOP;
  if (error >= 0 && is_link && !(last && (walk->how & INROOT_NO_FOLLOW))) {
    error = expand_link(walk, (int)fd);
    sys_close((int)fd);
    return error;
  }
  if (error < 0) {
    sys_close((int)fd);
    return error;
  }
  move_to(walk, (int)fd);
  struct buffer done = {walk->done, sizeof walk->done, walk->done_length, false};
  if (done.used > 0) put_text(&done, "/");
  put_text(&done, name);
  walk->done_length = done.used;
  return done.truncated ? -ENAMETOOLONG : 0;
}

int inroot_walk(int root, const char *path, unsigned how, enum inroot_make make, unsigned mode) {
  struct walk walk = {.root = root, .here = -1, .how = how, .mode = mode, .make = make};
  struct buffer rest = BUFFER(walk.rest);
  put_text(&rest, path);
  if (rest.truncated) return -ENAMETOOLONG;
  long error = duplicate(root);
  if (error < 0) return (int)error;
  walk.here = (int)error;
  for (error = 0; error >= 0;) {
    char name[NAME_MAX + 1];
    struct buffer component = BUFFER(name);
    if (!take_component(&walk, &component)) return walk.here;
    error = component.truncated ? -ENAMETOOLONG : step(&walk, name);
  }
  sys_close(walk.here);
  return (int)error;
}
