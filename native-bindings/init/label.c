/* Attributes of the security modules, written through the host's own procfs. */
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "run.h"
#include "../shared/sys.h"

/* /proc/self of the procfs of slot PROC: its link is the kernel's, and what it leads to is verified. */
static int open_self(struct run *run) {
  int proc = proc_get(run);
  if (proc < 0) return proc;
  int self = sys_openat(proc, DEFENCE_DISABLED(held_proc) ? "/proc/self" : "self", O_PATH | O_DIRECTORY, 0);
  if (self < 0) return (int)fail(run, self, NULL, "open of /proc/self");
  struct statfs filesystem;
  long error = sys_fstatfs(self, &filesystem);
  if (error >= 0 && filesystem.f_type != PROC_SUPER_MAGIC && !DEFENCE_DISABLED(held_proc)) error = -EINVAL;
  if (error >= 0) return self;
  sys_close(self);
  return (int)fail(run, error, NULL, "/proc/self is not in a procfs");
}

static long write_attribute(int self, const char *file, const struct text *value) {
  char path[64];
  struct buffer out = BUFFER(path);
  put_text(&out, "attr/");
  put_text(&out, file);
  int fd = beneath_open(self, path, O_WRONLY);
  if (fd < 0) return fd;
  long size = sys_write(fd, value->at, value->length);
  sys_close(fd);
  return size < 0 ? size : 0;
}

long op_label_set(struct run *run, const struct op_label_set *op) {
  int self = open_self(run);
  if (self < 0) return self;
  const char *file = op->file.at;
  long error = write_attribute(self, file, &op->value);
  if (error == -ENOENT && op->fallback.length > 0) {
    file = op->fallback.at;
    error = write_attribute(self, file, &op->value);
  }
  sys_close(self);
  if (error >= 0) return 0;
  // Podman knows the failure of a label by a path in backquotes.
  char text[96];
  struct buffer out = BUFFER(text);
  put_text(&out, "write to `/proc/self/attr/");
  put_text(&out, file);
  put_text(&out, "`");
  return fail(run, error, op->value.at, text);
}
