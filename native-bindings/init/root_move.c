/* --no-pivot: MS_MOVE and chroot. The old root stays reachable to whoever gets out of the chroot, so at least every procfs and
 * sysfs outside the root filesystem goes first. */
#include "../shared/inroot.h"
#include "mount.h"
#include "prepare.h"
#include "source.h"
#include "../shared/sys.h"

struct mount_line {
  /* Decoded mount point and type, both inside the line. */
  char *point, *type;
};

/* \040 and the like (fs/proc_namespace.c mangles space, tab, newline, backslash). */
static void decode_octal(char *text) {
  char *out = text;
  for (; *text != 0; text++) {
    if (text[0] == '\\' && text[1] != 0 && text[2] != 0 && text[3] != 0) {
      *out++ = (char)((unsigned)(text[1] - '0') << 6 | (unsigned)(text[2] - '0') << 3 | (unsigned)(text[3] - '0'));
      text += 3;
    } else {
      *out++ = *text;
    }
  }
  *out = 0;
}

/* Fields: id parent device root point options [optional ...] - type source options (proc(5)). */
static bool parse_line(char *line, struct mount_line *out) {
  char *words[64];
  unsigned count = 0;
  while (*line != 0 && count < sizeof words / sizeof *words) {
    words[count++] = line;
    while (*line != 0 && *line != ' ') line++;
    if (*line != 0) *line++ = 0;
  }
  for (unsigned i = 6; i + 1 < count; i++) {
    if (!text_equal(words[i], "-")) continue;
    *out = (struct mount_line){words[4], words[i + 1]};
    decode_octal(out->point);
    return true;
  }
  return false;
}

static bool is_below(const char *path, const char *directory) {
  size_t length = strlen(directory);
  return text_starts_with(path, directory) && (path[length] == 0 || path[length] == '/');
}

static long hide(struct run *run, const char *point) {
  long error = sys(__NR_umount2, point, MNT_DETACH_);
  // A mount of a more privileged namespace cannot be taken away, but covered.
  if (error == -EINVAL || error == -EPERM) error = sys_mount("tmpfs", point, "tmpfs", MS_RDONLY, "mode=755");
  return error < 0 && error != -ENOENT ? fail(run, error, point, "hiding a mount outside the root filesystem") : 0;
}

static long hide_line(struct run *run, char *line) {
  struct mount_line mount;
  if (!parse_line(line, &mount) || is_below(mount.point, run->init.rootfs)) return 0;
  if (!text_equal(mount.type, "proc") && !text_equal(mount.type, "sysfs")) return 0;
  return hide(run, mount.point);
}

/* The table is read as a whole first: it changes while mounts go away. */
static long hide_all(struct run *run, char *table) {
  while (*table != 0) {
    char *line = table;
    while (*table != 0 && *table != '\n') table++;
    if (*table != 0) *table++ = 0;
    long error = hide_line(run, line);
    if (error < 0) return error;
  }
  return 0;
}

long op_root_move(struct run *run, const struct op_root_move *op) {
  (void)op;
  prepared_close(run);
  sources_close(run);
  int root = slot_get(run, SLOT_ROOT);
  if (root < 0) return root;
  // Without root.open nobody knows which mounts are outside.
  if (run->init.rootfs == NULL) return fail(run, -EINVAL, NULL, "no root filesystem was opened");
  // What is unmounted below must not be unmounted on the host, whatever root.propagation said.
  long error = sys_mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL);
  error = error < 0 ? fail(run, error, "/", "mount propagation") : mount_table_read(run);
  if (error >= 0) error = hide_all(run, run->init.mount_table);
  if (error < 0) return error;
  error = sys_fchdir(root);
  if (error >= 0) error = sys_mount(".", "/", NULL, MS_MOVE, NULL);
  if (error < 0) return fail(run, error, run->init.rootfs, "MS_MOVE");
  error = sys(__NR_chroot, ".");
  if (error < 0) return fail(run, error, run->init.rootfs, "chroot");
  error = sys(__NR_chdir, "/");
  return error < 0 ? fail(run, error, "/", "chdir") : 0;
}
