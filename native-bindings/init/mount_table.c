/* The mounts of this namespace as the kernel lists them (proc_pid_mountinfo(5)). */
#include "mount.h"
#include "../shared/sys.h"

#define TABLE_SIZE (16 * 1024 * 1024)

long mount_table_read(struct run *run) {
  int proc = proc_get(run);
  if (proc < 0) return proc;
  long error = run->mount_table == NULL ? memory_map(run, TABLE_SIZE, &run->mount_table) : 0;
  if (error < 0) return error;
  int fd = sys_openat(proc, "self/mountinfo", O_RDONLY, 0);
  if (fd < 0) return fail(run, fd, "self/mountinfo", "open");
  long used = 0, size;
  do {
    size = sys_read(fd, run->mount_table + used, (size_t)(TABLE_SIZE - 1 - used));
    if (size > 0) used += size;
  } while (size > 0 || size == -EINTR);
  sys_close(fd);
  run->mount_table[used] = 0;
  // What does not fit would stay in sight.
  if (size == 0 && used == TABLE_SIZE - 1) size = -E2BIG;
  return finish(run, size, "self/mountinfo", "read");
}

bool mount_table_has(const struct run *run, int fd) {
  struct statx info;
  if (sys(__NR_statx, fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) < 0 || (info.stx_mask & STATX_MNT_ID) == 0) return true;
  for (const char *line = run->mount_table; *line != 0;) {
    uint64_t id = 0;
    for (; *line >= '0' && *line <= '9'; line++) id = id * 10 + (uint64_t)(*line - '0');
    if (id == info.stx_mnt_id) return true;
    while (*line != 0 && *line != '\n') line++;
    if (*line != 0) line++;
  }
  return false;
}
