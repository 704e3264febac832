/* The process of a container that was made as a template: `start` sends it, after everything that does not depend on it is done. */
#include "../testing/disabled_defences.h"
#include "run.h"
#include "../shared/sys.h"

#define BLOCK 65536

static bool has_number(const struct list *list, uint32_t number) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list_u32(list, i) == number) return true;
  return false;
}

/* The FIFO has no end, for init has it open for writing too: a sender that died leaves init as it was, waiting. */
static long take(int fd, void *to, size_t size) {
  for (size_t have = 0; have < size;) {
    long got;
    sys_again(got, __NR_read, fd, (char *)to + have, size - have);
    if (got <= 0) return got < 0 ? got : -EPROTO;
    have += (size_t)got;
  }
  return 0;
}

/* As much as a pipe can hold by default, in blocks. */
#define BLOCKS_MOST 1024

/* Reads the rest of a bad message, so that `start` finds the report of init first. It stops if the sender never ends. */
static void drain(int fd) {
  char block[1024];
  sys(__NR_fcntl, fd, F_SETFL, O_NONBLOCK);
  for (int blocks = 0; blocks < BLOCKS_MOST && sys_read(fd, block, sizeof block) > 0; blocks++) continue;
  sys(__NR_fcntl, fd, F_SETFL, 0);
}

static long no_claim(struct run *run, int fd, const char *why) {
  drain(fd);
  return fail(run, -EPROTO, "start", why);
}

static long read_claim(struct run *run, int fd, uint32_t most) {
  struct plan_head head = {0};
  // The first byte alone: a `start` that knows nothing of templates sends no more.
  long error = take(fd, &head, 1);
  if (error < 0) return fail(run, error, "exec.fifo", "read");
  if ((head.magic & 0xff) != (PLAN_MAGIC & 0xff)) return no_claim(run, fd, "a template waits for a process, and got none");
  error = take(fd, (char *)&head + 1, sizeof head - 1);
  if (error < 0) return fail(run, error, "exec.fifo", "read");
  if (head.magic != PLAN_MAGIC || head.bytes < sizeof head || head.bytes > most) return no_claim(run, fd, "the message is none");
  char *at;
  error = memory_map(run, head.bytes, &at);
  if (error < 0) return error;
  memcpy(at, &head, sizeof head);
  error = take(fd, at + sizeof head, head.bytes - sizeof head);
  if (error < 0) return fail(run, error, "exec.fifo", "read");
  const char *reason;
  if (plan_check_claim(at, head.bytes, &run->program.claim, &reason) < 0) return no_claim(run, fd, reason);
  return 0;
}

/* Only operations that the template allows, and one program, as the last. */
static bool is_allowed(const struct plan *claim, const struct list *allowed) {
  struct plan_cursor cursor = plan_begin(claim);
  struct operation operation = {0};
  uint32_t programs = 0;
  bool ends = false;
  while (plan_next(claim, &cursor, &operation)) {
    if (ends || !(has_number(allowed, operation.number) || DEFENCE_DISABLED(claim))) return false;
    programs += operation.number == OP_process_program;
    ends = operation.number == OP_process_exec;
  }
  return ends && programs == 1;
}

/* A process with CAP_SYS_RESOURCE could raise its hard limit. */
static long tighten(struct run *run, const struct op_process_rlimit *op) {
  struct rlimit64 now;
  long error = sys(__NR_prlimit64, 0, op->resource, NULL, &now);
  if (error < 0) return fail(run, error, NULL, "prlimit");
  if ((op->hard > now.rlim_max || op->soft > op->hard) && !DEFENCE_DISABLED(claim)) return fail(run, -EPERM, NULL, "a limit can only be tightened");
  return op_process_rlimit(run, op);
}

static long carry_out(struct run *run, const struct operation *operation) {
  switch (operation->number) {
  case OP_file_receive: return op_file_receive(run, &operation->arguments.file_receive);
  case OP_console_size: return op_console_size(run, &operation->arguments.console_size);
  case OP_process_rlimit: return tighten(run, &operation->arguments.process_rlimit);
  case OP_process_cwd: return op_process_cwd(run, &operation->arguments.process_cwd);
  case OP_process_program: return op_process_program(run, &operation->arguments.process_program);
  case OP_process_exec: return 0;
  }
  return fail(run, -EPROTO, "start", "an operation that no process has");
}

/* An environment with a HOME keeps it. */
static void forget_home(struct run *run, const struct list *environment) {
  const uint8_t *at = environment->at;
  for (uint32_t i = 0; i < environment->count; i++)
    if (text_starts_with(list_text(&at).at, "HOME=")) run->program.home[0] = 0;
}

long op_process_claim(struct run *run, const struct op_process_claim *op) {
  int fd = slot_get(run, SLOT_FIFO);
  if (fd < 0) return fd;
  long error = read_claim(run, fd, op->most);
  if (error < 0) return error;
  if (!is_allowed(&run->program.claim, &op->operations)) return no_claim(run, fd, "the template does not allow this");
  struct plan_cursor cursor = plan_begin(&run->program.claim);
  struct operation operation;
  long first = 0;
  const char *path = NULL;
  char text[sizeof run->failed_text];
  while (plan_next(&run->program.claim, &cursor, &operation)) {
    // After a failure the contents of the other files are still in the FIFO.
    if (first < 0 && operation.number != OP_file_receive) break;
    if (operation.number == OP_process_exec) forget_home(run, &operation.arguments.process_exec.env);
    error = carry_out(run, &operation);
    if (error >= 0 || first < 0) continue;
    first = error;
    path = run->failed_path;
    memcpy(text, run->failed_text, sizeof text);
  }
  if (first == 0) return 0;
  memcpy(run->failed_text, text, sizeof text);
  run->failed_path = path;
  return first;
}

/* mkdir -p of what is above the last component. */
static void make_above(const char *path) {
  char above[PATH_MAX];
  struct buffer out = BUFFER(above);
  for (const char *at = path; *at != 0; at++) {
    if (*at == '/' && out.used > 0) {
      out.at[out.used] = 0;
      sys(__NR_mkdirat, AT_FDCWD, above, 0755);
    }
    put_bytes(&out, at, 1);
  }
}

static int open_file(const char *path, uint32_t mode) {
  // O_NONBLOCK: a FIFO of this name must not hold init up.
  const unsigned flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  int fd = sys_openat(AT_FDCWD, path, flags, mode);
  if (fd != -ENOENT) return fd;
  make_above(path);
  return sys_openat(AT_FDCWD, path, flags, mode);
}

static long write_all(int fd, const char *from, size_t size) {
  for (size_t done = 0; done < size;) {
    long wrote;
    sys_again(wrote, __NR_write, fd, from + done, size - done);
    if (wrote <= 0) return wrote < 0 ? wrote : -EIO;
    done += (size_t)wrote;
  }
  return 0;
}

long op_file_receive(struct run *run, const struct op_file_receive *op) {
  int fifo = slot_get(run, SLOT_FIFO);
  if (fifo < 0) return fifo;
  int fd = open_file(op->path.at, op->mode & 07777);
  struct stat info;
  long error = fd < 0 ? fd : sys_fstat(fd, &info);
  if (error >= 0 && (info.st_mode & S_IFMT) != S_IFREG) error = -EINVAL;
  char *block;
  long no_memory = memory_map(run, BLOCK, &block);
  for (uint64_t left = op->bytes; left > 0 && no_memory >= 0;) {
    size_t part = left < BLOCK ? (size_t)left : BLOCK;
    long taken = take(fifo, block, part);
    if (taken < 0) return fail(run, taken, "exec.fifo", "read");
    if (error >= 0) error = write_all(fd, block, part);
    left -= part;
  }
  if (no_memory >= 0) sys(__NR_munmap, block, BLOCK);
  if (fd >= 0) sys_close(fd);
  return no_memory < 0 ? no_memory : finish(run, error, op->path.at, "write of a file");
}
