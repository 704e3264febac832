/* The mounts of this namespace as the kernel lists them (proc_pid_mountinfo(5)). */
#include "mount.h"
#include "../shared/sys.h"

#define TABLE_SIZE (16 * 1024 * 1024)

long mount_table_read(struct run *run) {
  int proc = proc_get(run);
  if (proc < 0) return proc;
  long error = run->init.mount_table == NULL ? memory_map(run, TABLE_SIZE, &run->init.mount_table) : 0;
  if (error < 0) return error;
  int fd = sys_openat(proc, "self/mountinfo", O_RDONLY, 0);
  if (fd < 0) return fail(run, fd, "self/mountinfo", "open");
  long used = 0, size;
  do {
    size = sys_read(fd, run->init.mount_table + used, (size_t)(TABLE_SIZE - 1 - used));
    if (size > 0) used += size;
  } while (size > 0 || size == -EINTR);
  sys_close(fd);
  run->init.mount_table[used] = 0;
  // What does not fit would stay in sight.
  if (size == 0 && used == TABLE_SIZE - 1) size = -E2BIG;
  return finish(run, size, "self/mountinfo", "read");
}

/* proc_pid_fdinfo(5): the field `mnt_id`. */
static bool mount_id_of_proc(struct run *run, int fd, uint64_t *id) {
  static const char field[] = "mnt_id:";
  char text[512];
  struct buffer out = BUFFER(text);
  put_text(&out, "self/fdinfo/");
  put_u64(&out, (uint64_t)fd);
  int proc = proc_get(run);
  int info = proc < 0 ? proc : sys_openat(proc, text, O_RDONLY, 0);
  if (info < 0) return false;
  long size = sys_read(info, text, sizeof text - 1);
  sys_close(info);
  text[size < 0 ? 0 : size] = 0;
  for (const char *line = text; *line != 0; line++) {
    if ((line != text && line[-1] != '\n') || !text_starts_with(line, field)) continue;
    line += sizeof field - 1;
    while (*line == '\t' || *line == ' ') line++;
    for (*id = 0; *line >= '0' && *line <= '9'; line++) *id = *id * 10 + (uint64_t)(*line - '0');
    return true;
  }
  return false;
}

/* With the mount: since Linux 5.8, where no filter refuses the call. */
static bool look(int fd, struct statx *info) {
  return sys(__NR_statx, fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, info) >= 0 && (info->stx_mask & STATX_MNT_ID) != 0;
}

static bool mount_id(struct run *run, int fd, uint64_t *id) {
  struct statx info;
  if (!look(fd, &info)) return mount_id_of_proc(run, fd, id);
  *id = info.stx_mnt_id;
  return true;
}

bool mount_same(struct run *run, int a, int b) {
  struct statx x, y;
  if (look(a, &x) && look(b, &y))
    return x.stx_ino == y.stx_ino && x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor &&
           x.stx_mnt_id == y.stx_mnt_id;
  uint64_t first, second;
  return is_same_file(a, b) && mount_id_of_proc(run, a, &first) && mount_id_of_proc(run, b, &second) && first == second;
}

bool mount_table_has(struct run *run, int fd) {
  uint64_t wanted;
  if (!mount_id(run, fd, &wanted)) return true;
  for (const char *line = run->init.mount_table; *line != 0;) {
    uint64_t id = 0;
    for (; *line >= '0' && *line <= '9'; line++) id = id * 10 + (uint64_t)(*line - '0');
    if (id == wanted) return true;
    while (*line != 0 && *line != '\n') line++;
    if (*line != 0) line++;
  }
  return false;
}
