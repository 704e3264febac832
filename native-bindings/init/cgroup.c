/* Joining cgroups. v1: the single-threaded child writes 0 to each `tasks`, which waits for no RCU grace period. */
#include "../shared/spin_wait.h"
#include "run.h"
#include "../shared/sys.h"

long op_cgroup_open(struct run *run, const struct op_cgroup_open *op) {
  const uint8_t *at = op->files.at;
  for (uint32_t i = 0; i < op->files.count; i++) {
    struct text path = list_text(&at);
    int fd = sys_openat(AT_FDCWD, path.at, O_WRONLY, 0);
    if (fd < 0) return fail(run, fd, path.at, "open");
    long error = slot_put(run, op->slot + i, fd);
    if (error < 0) return error;
  }
  return 0;
}

long op_cgroup_open_directory(struct run *run, const struct op_cgroup_open_directory *op) {
  int fd = sys_openat(AT_FDCWD, op->path.at, O_PATH | O_DIRECTORY, 0);
  if (fd < 0) return fail(run, fd, op->path.at, "open");
  return slot_put(run, op->slot, fd);
}

long cgroups_await(struct run *run) {
  long error = run->init.has_cgroups ? 0 : wait_message(run, MESSAGE_CGROUP);
  run->init.has_cgroups = error >= 0;
  return error;
}

static bool is_made(struct run *run, uint32_t made) {
  if (run->init.has_cgroups || made == 0) return true;
  spin_wait(run->progress, PAGE_CGROUPS, made - 1);
  return run->progress != NULL && spin_is_past(run->progress, PAGE_CGROUPS, made - 1);
}

long op_cgroup_open_tree(struct run *run, const struct op_cgroup_open_tree *op) {
  const struct op_mount_open open = {.source = op->path, .slot = op->slot};
  if (is_made(run, op->made)) {
    long error = op_mount_open(run, &open);
    // The word in the shared page is only a hint; the message decides.
    if (error != -ENOENT || run->init.has_cgroups) return error;
  }
  long error = cgroups_await(run);
  return error < 0 ? error : op_mount_open(run, &open);
}

long op_cgroup_join(struct run *run, const struct op_cgroup_join *op) {
  for (uint32_t i = 0; i < op->count; i++) {
    int fd = slot_get(run, op->slot + i);
    if (fd < 0) return fd;
    long size = sys_write(fd, "0", 1);
    if (size < 0) return fail(run, size, NULL, "write to a cgroup's tasks file");
    slot_close(run, op->slot + i);
  }
  return 0;
}
