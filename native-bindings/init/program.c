/* The last steps: find the program inside the final root, and become it. The root has been changed by now,
 * so the kernel itself keeps every lookup inside. */
#include "../testing/disabled_defences.h"
#include "run.h"
#include "../shared/sys.h"

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
    struct buffer candidate = BUFFER(run->program.path);
    const char *start = path;
    while (*path != 0 && *path != ':') path++;
    put_bytes(&candidate, start, (size_t)(path - start));
    // An empty element is the current directory.
    put_text(&candidate, path == start ? "./" : "/");
    put_text(&candidate, name);
    if (!candidate.truncated) {
      long error = check_program(run->program.path);
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
    struct buffer out = BUFFER(run->program.path);
    put_text(&out, name);
    error = out.truncated ? -ENAMETOOLONG : check_program(name);
  } else {
    error = *name == 0 ? -ENOENT : search(run, name, op->path.at);
  }
  return finish(run, error, name, "stat");
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
  const int last = DEFENCE_DISABLED(signals) || run->has_plain_signals ? 0 : SIGNAL_COUNT;
  for (int signal = 1; signal <= last; signal++) sys(__NR_rt_sigaction, signal, &standard, NULL, sizeof(uint64_t));
  run->has_plain_signals = true;
}

void reset_process(struct run *run) {
  const uint64_t none = 0;
  reset_signals(run);
  if (!DEFENCE_DISABLED(signals)) sys(__NR_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
  limit_restore(run);
  sys(__NR_umask, run->program.saved_umask);
}

long exec_prepare(struct run *run) {
  const struct plan *plan = run->program.claim.at != NULL ? &run->program.claim : &run->plan;
  struct plan_cursor cursor = plan_begin(plan);
  struct operation operation;
  if (run->program.exec_arguments != NULL || !plan_find(plan, &cursor, OP_process_exec, &operation)) return 0;
  const struct op_process_exec *op = &operation.arguments.process_exec;
  static char home[PATH_MAX + 8];
  struct buffer out = BUFFER(home);
  put_text(&out, "HOME=");
  put_text(&out, run->program.home);
  run->program.exec_arguments = make_vector(&op->args, NULL);
  const char *own_home = run->program.home[0] != 0 ? home : NULL;
  run->program.exec_environment = DEFENCE_DISABLED(environment) ? run->program.environment : make_vector(&op->env, own_home);
  if (run->program.exec_arguments == NULL || run->program.exec_environment == NULL) return fail(run, -ENOMEM, run->program.path, "exec");
  reset_process(run);
  return 0;
}

long op_process_exec(struct run *run, const struct op_process_exec *op) {
  (void)op;
  long error = exec_prepare(run);
  if (error < 0) return error;
  error = sys(__NR_execve, run->program.path, run->program.exec_arguments, run->program.exec_environment);
  // A filter may refuse execve(2) and return 0.
  return fail(run, error < 0 ? error : -EPERM, run->program.path, "exec");
}
