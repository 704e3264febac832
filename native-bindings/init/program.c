/* The last steps: find the program and HOME inside the final root, and become the program. The root has been changed by now,
 * so the kernel itself keeps every lookup inside. */
#include "../testing/weaken.h"
#include "inroot.h"
#include "run.h"
#include "sys.h"

#define PASSWD_MAX (1024 * 1024)
#define SIGNAL_COUNT 64

/* Execute permission of the effective user on a regular file: 0, -EACCES or the error of the lookup. Without a descriptor: the
 * container's own limit may already allow no more of them. */
static long check_program(const char *path) {
  struct stat info;
  long error = sys(__NR_newfstatat, AT_FDCWD, path, &info, 0);
  if (error < 0) return error;
  if ((info.st_mode & S_IFMT) != S_IFREG) return -EACCES;
  error = sys(__NR_faccessat2, AT_FDCWD, path, 1, AT_EACCESS);
  // Before Linux 5.8; the real ids are the effective ones.
  return is_refused(error) ? sys(__NR_faccessat, AT_FDCWD, path, 1) : error;
}

static long search(struct run *run, const char *name, const char *path) {
  long result = -ENOENT;
  for (;;) {
    struct buffer candidate = BUFFER(run->program);
    const char *start = path;
    while (*path != 0 && *path != ':') path++;
    put_bytes(&candidate, start, (size_t)(path - start));
    // An empty element is the current directory.
    put_text(&candidate, path == start ? "./" : "/");
    put_text(&candidate, name);
    if (!candidate.truncated) {
      long error = check_program(run->program);
      if (error >= 0) return 0;
      if (error == -EACCES) result = error;
    }
    if (*path == 0) return result;
    path++;
  }
}

long op_process_program(struct run *run, const struct op_process_program *op) {
  const char *name = op->name.at;
  long error;
  if (text_find(name, '/') != NULL) {
    struct buffer out = BUFFER(run->program);
    put_text(&out, name);
    error = out.truncated ? -ENAMETOOLONG : check_program(name);
  } else {
    error = *name == 0 ? -ENOENT : search(run, name, op->path.at);
  }
  return error < 0 ? fail(run, error, name, "stat") : 0;
}

/* The sixth field of the line whose third is uid; false if this is another line. */
static bool home_of_line(char *line, uint32_t uid, char **home) {
  char *fields[7];
  unsigned count = 0;
  fields[count++] = line;
  for (; *line != 0 && count < 7; line++) {
    if (*line != ':') continue;
    *line = 0;
    fields[count++] = line + 1;
  }
  uint64_t number;
  if (count < 6 || !text_to_u64(fields[2], &number) || number != uid || fields[5][0] != '/') return false;
  *home = fields[5];
  return true;
}

static bool find_home(char *text, uint32_t uid, char **home) {
  for (char *line = text; *line != 0;) {
    char *end = line;
    while (*end != 0 && *end != '\n') end++;
    bool more = *end != 0;
    *end = 0;
    if (home_of_line(line, uid, home)) return true;
    line = more ? end + 1 : end;
  }
  return false;
}

static int open_passwd(struct run *run) {
  int root = slot_get(run, SLOT_ROOT);
  int directory = root < 0 ? root : inroot_open(root, "/etc", 0);
  if (directory < 0) return directory;
  // O_NONBLOCK: a FIFO of this name must not hold the container up.
  int fd = sys_openat(directory, "passwd", O_RDONLY | (WEAKENED(passwd) ? 0 : O_NONBLOCK) | O_NOFOLLOW | O_NOCTTY, 0);
  sys_close(directory);
  return fd;
}

long op_process_home(struct run *run, const struct op_process_home *op) {
  struct buffer out = BUFFER(run->home);
  put_text(&out, "/");
  int fd = open_passwd(run);
  if (fd < 0) return 0;
  struct stat info;
  long size = PASSWD_MAX + 1;
  if (sys_fstat(fd, &info) >= 0 && (info.st_mode & S_IFMT) == S_IFREG && info.st_size <= PASSWD_MAX) size = info.st_size;
  long address = size > PASSWD_MAX ? -EFBIG : sys(__NR_mmap, 0, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address > 0) {
    char *text = (char *)address, *home;
    long used = sys_read(fd, text, (size_t)size);
    text[used < 0 ? 0 : used] = 0;
    if (find_home(text, op->uid, &home)) {
      out.used = 0;
      put_text(&out, home);
    }
    sys(__NR_munmap, address, size + 1);
  }
  sys_close(fd);
  return 0;
}

char **make_vector(const struct list *list, const char *extra) {
  size_t size = ((size_t)list->count + 2) * sizeof(char *);
  long address = sys(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address < 0 && address > -4096) return NULL;
  char **vector = (char **)address;
  const uint8_t *at = list->at;
  for (uint32_t i = 0; i < list->count; i++) vector[i] = (char *)list_text(&at).at;
  vector[list->count] = (char *)extra;
  return vector;
}

void reset_signals(struct run *run) {
  const struct kernel_action standard = {0};
  const int last = WEAKENED(signals) || run->has_plain_signals ? 0 : SIGNAL_COUNT;
  for (int signal = 1; signal <= last; signal++) sys(__NR_rt_sigaction, signal, &standard, NULL, sizeof(uint64_t));
  run->has_plain_signals = true;
}

void reset_process(struct run *run) {
  const uint64_t none = 0;
  reset_signals(run);
  if (!WEAKENED(signals)) sys(__NR_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
  limit_restore(run);
  sys(__NR_umask, run->saved_umask);
}

static bool find_exec(struct run *run, struct op_process_exec *out) {
  struct plan_cursor cursor = plan_begin(&run->plan);
  struct operation operation;
  while (plan_next(&run->plan, &cursor, &operation)) {
    if (operation.number != OP_process_exec) continue;
    *out = operation.arguments.process_exec;
    return true;
  }
  return false;
}

long exec_prepare(struct run *run) {
  struct op_process_exec op;
  if (run->exec_arguments != NULL || !find_exec(run, &op)) return 0;
  static char home[PATH_MAX + 8];
  struct buffer out = BUFFER(home);
  put_text(&out, "HOME=");
  put_text(&out, run->home);
  run->exec_arguments = make_vector(&op.args, NULL);
  run->exec_environment = WEAKENED(environment) ? run->environment : make_vector(&op.env, run->home[0] != 0 ? home : NULL);
  if (run->exec_arguments == NULL || run->exec_environment == NULL) return fail(run, -ENOMEM, run->program, "exec");
  reset_process(run);
  return 0;
}

long op_process_exec(struct run *run, const struct op_process_exec *op) {
  (void)op;
  long error = exec_prepare(run);
  if (error < 0) return error;
  error = sys(__NR_execve, run->program, run->exec_arguments, run->exec_environment);
  return fail(run, error, run->program, "exec");
}
