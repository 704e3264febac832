/* What operations share: memory, descriptor slots, the limit on descriptors, close-on-exec for all that must not reach the program,
 * and the end of a child. */
#include "../testing/disabled_defences.h"
#include "run.h"
#include "../shared/sys.h"

#define COUNTED_MAX 65536

long memory_map(struct run *run, size_t size, void *out) {
  // Only address space until it is written to.
  long address = sys(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address < 0 && address > -4096) return fail(run, address, NULL, "mmap");
  memcpy(out, &address, sizeof address);
  return 0;
}

long slots_make(struct run *run) {
  if (run->plan.slot_count < SLOT_FIRST_FREE) run->plan.slot_count = SLOT_FIRST_FREE;
  long error = memory_map(run, run->plan.slot_count * sizeof *run->slots, &run->slots);
  if (error < 0) return error;
  for (uint32_t i = 0; i < run->plan.slot_count; i++) run->slots[i].fd = -1;
  return 0;
}

long slot_fill(struct run *run, uint32_t slot, const struct slot *content) {
  if (slot >= run->plan.slot_count) {
    sys_close(content->fd);
    return fail(run, -EBADF, NULL, "operation needs a slot");
  }
  slot_close(run, slot);
  run->slots[slot] = *content;
  return 0;
}

long slot_put(struct run *run, uint32_t slot, int fd) { return slot_fill(run, slot, &(struct slot){.fd = fd}); }

int slot_get(struct run *run, uint32_t slot) {
  if (slot >= run->plan.slot_count || run->slots[slot].fd < 0) return (int)fail(run, -EBADF, NULL, "empty slot");
  return run->slots[slot].fd;
}

void slot_close(struct run *run, uint32_t slot) {
  if (run->slots[slot].fd >= 0) sys_close(run->slots[slot].fd);
  run->slots[slot].fd = -1;
}

/* Only the root of a real procfs has this type and inode: a path below it, or another file system, is refused. */
static long open_proc(struct run *run) {
  int fd = sys_openat(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
  if (fd < 0) return fail(run, fd, "/proc", "open");
  struct statfs filesystem;
  struct stat info;
  long error = sys_fstatfs(fd, &filesystem);
  if (error >= 0) error = sys_fstat(fd, &info);
  if (error >= 0 && (filesystem.f_type != PROC_SUPER_MAGIC || info.st_ino != PROC_ROOT_INODE)) error = -EINVAL;
  if (error >= 0) return slot_put(run, SLOT_PROC, fd);
  sys_close(fd);
  return fail(run, error, "/proc", "not the root of a procfs");
}

int proc_get(struct run *run) {
  if (run->slots[SLOT_PROC].fd < 0) {
    long error = open_proc(run);
    if (error < 0) return (int)error;
  }
  return run->slots[SLOT_PROC].fd;
}

long proc_write(struct run *run, const char *path, const char *name, const struct buffer *text) {
  int proc = proc_get(run);
  if (proc < 0) return proc;
  int fd = text->truncated ? -E2BIG : sys_openat(proc, path, O_WRONLY, 0);
  if (fd < 0) return fail(run, fd, name, "open");
  long size = sys_write(fd, text->at, text->used);
  sys_close(fd);
  return finish(run, size, name, "write");
}

long op_proc_open(struct run *run, const struct op_proc_open *op) {
  (void)op;
  return open_proc(run);
}

static long require_fifo(int fd) {
  struct stat info;
  long error = sys_fstat(fd, &info);
  return error < 0 ? error : (info.st_mode & 0170000) == 0010000 ? 0 : -EINVAL;
}

long op_file_open(struct run *run, const struct op_file_open *op) {
  // What is written to is below ROOT/ID, and was made there by the runtime or is made here. What is read is a namespace, behind a magic link.
  const bool is_own = (op->flags & (O_WRONLY | O_RDWR)) != 0 && !DEFENCE_DISABLED(state_entry);
  int fd = sys_openat(AT_FDCWD, op->path.at, op->flags | (is_own ? O_NOFOLLOW | O_NOCTTY : 0), 0600);
  if (fd < 0) return fail(run, fd, op->path.at, "open");
  long error = is_own && (op->flags & O_CREAT) == 0 ? require_fifo(fd) : 0;
  if (error >= 0) return slot_put(run, op->slot, fd);
  sys_close(fd);
  return fail(run, error, op->path.at, "not the FIFO that the runtime has made");
}

void limit_raise(struct run *run) {
  struct rlimit64 limit;
  if (run->raised_soft_limit != 0 || sys(__NR_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) < 0) return;
  // Few operations hold more than a handful of descriptors beside the slots.
  if (limit.rlim_cur >= (uint64_t)run->plan.slot_count + 64 || limit.rlim_cur == limit.rlim_max) return;
  run->saved_soft_limit = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (sys(__NR_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL) >= 0) run->raised_soft_limit = limit.rlim_max;
}

void limit_restore(struct run *run) {
  struct rlimit64 limit;
  if (run->raised_soft_limit == 0 || sys(__NR_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) < 0) return;
  // A limit that the runtime has set in the meantime stays.
  if (limit.rlim_cur == run->raised_soft_limit) {
    limit.rlim_cur = run->saved_soft_limit;
    sys(__NR_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
  }
  run->raised_soft_limit = 0;
}

static bool has_number(const struct list *list, uint32_t number) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list_u32(list, i) == number) return true;
  return false;
}

static long mark_listed(int directory, uint32_t first) {
  _Alignas(struct directory_entry) char block[2048];
  for (;;) {
    long size = sys(__NR_getdents64, directory, block, sizeof block);
    if (size <= 0) return size;
    for (long at = 0; at < size;) {
      struct directory_entry *entry = (struct directory_entry *)(block + at);
      uint64_t fd;
      if (text_to_u64(entry->name, &fd) && fd >= first) sys(__NR_fcntl, fd, F_SETFD, FD_CLOEXEC);
      at += entry->length;
    }
  }
}

/* The container's own limit may allow no descriptor more to read the list with. */
static long mark_counted(uint32_t first) {
  for (uint32_t fd = first; fd < COUNTED_MAX; fd++) sys(__NR_fcntl, fd, F_SETFD, FD_CLOEXEC);
  return 0;
}

long close_on_exec_from(struct run *run, uint32_t first) {
  if (DEFENCE_DISABLED(keep_descriptors)) return 0;
  long result = sys(__NR_close_range, first, UINT32_MAX, CLOSE_RANGE_CLOEXEC);
  // Kernel 5.10 has the call without the flag.
  if (!is_refused(result) && result != -EINVAL) return result;
  int proc = proc_get(run);
  int directory = proc < 0 ? proc : sys_openat(proc, "self/fd", O_RDONLY | O_DIRECTORY, 0);
  if (directory == -EMFILE) return mark_counted(first);
  if (directory < 0) return directory;
  result = mark_listed(directory, first);
  sys_close(directory);
  return result;
}

long op_descriptors_sweep(struct run *run, const struct op_descriptors_sweep *op) {
  long error = close_on_exec_from(run, op->first);
  if (error < 0) return fail(run, error, NULL, "close_range");
  // A waiting init may be looked at for a long time: it keeps what it still needs.
  for (uint32_t slot = 0; slot < run->plan.slot_count; slot++)
    if (slot != SLOT_FIFO && !has_number(&op->keep, slot)) slot_close(run, slot);
  if (run->init.mask_directory >= 0) sys_close(run->init.mask_directory);
  if (run->init.mask_file >= 0) sys_close(run->init.mask_file);
  run->init.mask_directory = run->init.mask_file = -1;
  return 0;
}

int wait_child(long pid) {
  int status = 0;
  long ended;
  do ended = sys(__NR_wait4, pid, &status, __WALL, NULL);
  while (ended == -EINTR);
  return status;
}
