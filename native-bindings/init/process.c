/* Settings of the process that becomes the container's program. */
#include "../testing/disabled_defences.h"
#include "run.h"
#include "../shared/sys.h"

#define NULL_DEVICE_MAJOR 1
#define NULL_DEVICE_MINOR 3

static bool runtime_is_gone(struct run *run) {
  struct pollfd poll = {.fd = run->socket, .events = POLLIN};
  const struct __kernel_timespec now = {0, 0};
  return sys_poll(&poll, 1, &now) > 0 && (poll.revents & POLLHUP) != 0;
}

/* What stops a container that waits for `start`, as with runc. */
static const int ENDING[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/* As a shell says that a signal has ended a program. */
static _Noreturn void end_by_signal(int signal) { sys_exit(128 + signal); }

/* The first process of a PID namespace gets no signal that it has no handler for, but SIGKILL. execve(2) takes the handlers away. */
static long end_by_signals(void) {
  // The kernel wants to know where a handler returns to; this one does not.
  const struct kernel_action action = {.handler = (void *)end_by_signal, .flags = SA_RESTORER, .restorer = (void *)end_by_signal};
  long error = 0;
  for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING && error >= 0; i++)
    error = sys(__NR_rt_sigaction, ENDING[i], &action, NULL, sizeof(uint64_t));
  return error;
}

long op_process_death_signal(struct run *run, const struct op_process_death_signal *op) {
  run->init.death_signal = DEFENCE_DISABLED(death_signal) ? 0 : op->signal;
  long error = sys_prctl(PR_SET_PDEATHSIG, run->init.death_signal, 0);
  if (error < 0) return fail(run, error, NULL, "PR_SET_PDEATHSIG");
  // getppid(2) says 0 in a new PID namespace whoever the parent is; the socket tells the truth.
  if (op->signal != 0 && run->socket >= 0 && runtime_is_gone(run)) return fail(run, -ESRCH, NULL, "the runtime is gone");
  if (op->signal != 0 || !run->init.waits_for_start || sys(__NR_getpid) != 1) return 0;
  error = end_by_signals();
  return finish(run, error, NULL, "rt_sigaction");
}

/* A change of the effective ids or of the capabilities clears both (kernel/cred.c). */
void rearm_death_signal(struct run *run) {
  if (run->init.death_signal != 0) sys_prctl(PR_SET_PDEATHSIG, run->init.death_signal, 0);
  sys_prctl(PR_SET_DUMPABLE, DEFENCE_DISABLED(dumpable), 0);
}

long op_process_become_root(struct run *run, const struct op_process_become_root *op) {
  // Denied where setgroups is "deny": the groups then stay what the runtime's are.
  long error = op->keep_groups ? 0 : sys(__NR_setgroups, 0, NULL);
  if (error < 0 && error != -EPERM) return fail(run, error, NULL, "setgroups");
  error = sys(__NR_setresgid, 0, 0, 0);
  if (error < 0) return fail(run, error, NULL, "setresgid");
  error = sys(__NR_setresuid, 0, 0, 0);
  if (error < 0) return fail(run, error, NULL, "setresuid");
  rearm_death_signal(run);
  return 0;
}

long op_session_create(struct run *run, const struct op_session_create *op) {
  (void)op;
  return finish(run, sys(__NR_setsid), NULL, "setsid");
}

long op_process_rlimit(struct run *run, const struct op_process_rlimit *op) {
  const struct rlimit64 limit = {op->soft, op->hard};
  // Whatever was raised for the slots must not be taken for the container's own limit later.
  if (op->resource == RLIMIT_NOFILE) limit_restore(run);
  return finish(run, sys(__NR_prlimit64, 0, op->resource, &limit, NULL), NULL, "prlimit");
}

/* The intermediate's own, which init inherits: the container's processes cannot be in its way yet. */
long op_process_oom_score_adj(struct run *run, const struct op_process_oom_score_adj *op) {
  static const char *const path = "self/oom_score_adj";
  char text[24];
  struct buffer out = BUFFER(text);
  put_i64(&out, op->value);
  return proc_write(run, path, path, &out);
}

long op_process_umask(struct run *run, const struct op_process_umask *op) {
  // Applied at the end: what is made until then has exact modes.
  run->program.saved_umask = op->mask;
  return 0;
}

static bool is_null_device(const struct stat *info) {
  return !DEFENCE_DISABLED(stdio_device) && (info->st_mode & S_IFMT) == S_IFCHR &&
         info->st_rdev == (NULL_DEVICE_MAJOR << 8 | NULL_DEVICE_MINOR);
}

long op_process_stdio_owner(struct run *run, const struct op_process_stdio_owner *op) {
  for (int fd = 0; fd <= 2; fd++) {
    struct stat info;
    if (sys_fstat(fd, &info) < 0 || is_null_device(&info) || info.st_uid == op->uid) continue;
    long error = sys(__NR_fchown, fd, op->uid, -1);
    // Read-only, not permitted, or owned by a user that is not mapped: the program may still use it as it is.
    if (error < 0 && error != -EPERM && error != -EROFS && error != -EINVAL) return fail(run, error, NULL, "fchown of stdio");
  }
  return 0;
}

long op_process_no_new_privileges(struct run *run, const struct op_process_no_new_privileges *op) {
  (void)op;
  return finish(run, DEFENCE_DISABLED(no_new_privileges) ? 0 : sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0), NULL, "PR_SET_NO_NEW_PRIVS");
}

static long set_groups(struct run *run, const struct list *groups) {
  size_t size = (size_t)groups->count * sizeof(uint32_t);
  uint32_t *numbers = NULL;
  long error = size > 0 ? memory_map(run, size, &numbers) : 0;
  if (error < 0) return error;
  for (uint32_t i = 0; i < groups->count; i++) numbers[i] = list_u32(groups, i);
  error = DEFENCE_DISABLED(groups) ? 0 : sys(__NR_setgroups, groups->count, numbers);
  if (size > 0) sys(__NR_munmap, numbers, size);
  if (error >= 0) return 0;
  if (error != -EPERM) return fail(run, error, NULL, "setgroups");
  // "deny" in the user namespace: nothing is lost unless there are groups to leave or to enter.
  if (groups->count > 0 || sys(__NR_getgroups, 0, NULL) > 0)
    warn(run, error, NULL, "process.user: setgroups is denied: the groups stay as they are");
  return 0;
}

long op_process_user(struct run *run, const struct op_process_user *op) {
  long error = sys_prctl(PR_SET_KEEPCAPS, 1, 0);
  if (error < 0) return fail(run, error, NULL, "PR_SET_KEEPCAPS");
  if (op->setgroups && (error = set_groups(run, &op->groups)) < 0) return error;
  error = sys(__NR_setresgid, op->gid, op->gid, op->gid);
  if (error < 0) return fail(run, error, NULL, "setresgid");
  error = sys(__NR_setresuid, op->uid, op->uid, op->uid);
  if (error < 0) return fail(run, error, NULL, "setresuid");
  rearm_death_signal(run);
  return 0;
}

long op_process_cwd(struct run *run, const struct op_process_cwd *op) {
  char path[PATH_MAX];
  long error = sys(__NR_chdir, op->path.at);
  if (error < 0) return fail(run, error, op->path.at, "chdir");
  long length = sys(__NR_getcwd, path, sizeof path);
  if (length < 0) return fail(run, length, op->path.at, "getcwd");
  // The kernel writes "(unreachable)" before the path of a directory that is not below the root.
  return path[0] == '/' || DEFENCE_DISABLED(cwd_check)
             ? 0
             : fail(run, -ENOENT, op->path.at, "current working directory is outside of the root filesystem");
}

long op_process_wait(struct run *run, const struct op_process_wait *op) {
  (void)op;
  char byte;
  int fd = slot_get(run, SLOT_FIFO);
  if (fd < 0) return fd;
  long size;
  sys_again(size, __NR_read, fd, &byte, 1);
  // Its end, with execve or with init, is what `start` waits for.
  return finish(run, size, "exec.fifo", "read");
}
