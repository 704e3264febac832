/* Hooks that init runs: createContainer before the pivot, startContainer where the program will stand. */
#include "../shared/child.h"
#include "../shared/signal.h"
#include "../testing/disabled_defences.h"
#include "run.h"
#include "../shared/sys.h"

/* Of stdout and of stderr, for the error message. */
#define OUTPUT_MAX 4096
#define NANOSECONDS 1000000000
#define SIG_IGN_ ((void *)1)

static char texts[2][OUTPUT_MAX];

static char **hook_environment(struct run *run, const struct op_hook_run *op) {
  static char home[PATH_MAX + 8];
  if (op->inherit_env) return run->program.environment;
  if (!op->home || run->program.home[0] == 0) return make_vector(&op->env, NULL);
  struct buffer out = BUFFER(home);
  put_text(&out, "HOME=");
  put_text(&out, run->program.home);
  return make_vector(&op->env, home);
}

/* In the child. Returns the error that kept it from running the hook. */
static long become_hook(struct run *run, const struct op_hook_run *op, const int stdio[CHILD_STDIO]) {
  sys_prctl(PR_SET_PDEATHSIG, SIGKILL, 0);
  if (op->directory != NO_SLOT) {
    int directory = slot_get(run, op->directory);
    long error = directory < 0 ? directory : sys_fchdir(directory);
    if (error < 0) return error;
  }
  long error = child_place_stdio(stdio);
  if (error < 0) return error;
  error = close_on_exec_from(run, CHILD_STDIO);
  if (error < 0) return error;
  char **arguments = make_vector(&op->args, NULL);
  char **environment = hook_environment(run, op);
  if (arguments == NULL || environment == NULL) return -ENOMEM;
  reset_process(run);
  if (op->filtered && !DEFENCE_DISABLED(hook_filter) && (error = seccomp_load_alone(run, op->filter_flags, op->raise != 0)) < 0)
    return error;
  return sys(__NR_execve, op->path.at, arguments, environment);
}

static int64_t now(void) {
  struct __kernel_timespec time = {0, 0};
  sys(__NR_clock_gettime, 1, &time);
  return time.tv_sec * NANOSECONDS + time.tv_nsec;
}

/* No signal interrupts init, but a filter of system calls may return EINTR. */
static int poll_for(struct pollfd *fds, unsigned count, int64_t nanoseconds) {
  const struct __kernel_timespec pause = {nanoseconds / NANOSECONDS, nanoseconds % NANOSECONDS};
  int ready = sys_poll(fds, count, nanoseconds < 0 ? NULL : &pause);
  return ready == -EINTR ? -EAGAIN : ready;
}

static void put_output(struct buffer *out, const char *name, const struct child_output *output) {
  size_t used = output->used;
  while (used > 0 && (output->text[used - 1] == '\n' || output->text[used - 1] == ' ')) used--;
  put_text(out, name);
  put_bytes(out, output->text, used);
}

static struct buffer begin_text(struct run *run, const struct op_hook_run *op) {
  struct buffer out = BUFFER(run->failed_text);
  run->failed_path = NULL;
  put_text(&out, "error running ");
  put_text(&out, op->kind.at);
  put_text(&out, " hook #");
  put_u64(&out, op->index);
  put_text(&out, ": ");
  return out;
}

/* After `commit` the runtime does not listen any more: the error goes into the report only. */
static long fail_hook(struct run *run, const struct op_hook_run *op, const struct buffer *text) {
  if (run->socket < 0 && op->report != NO_SLOT) {
    int report = slot_get(run, op->report);
    if (report >= 0) {
      sys_write(report, text->at, text->used);
      sys_exit(255);
    }
  }
  return -ECANCELED;
}

static long fail_start(struct run *run, const struct op_hook_run *op, long error) {
  struct buffer out = begin_text(run, op);
  put_text(&out, "exec ");
  put_text(&out, op->path.at);
  put_text(&out, ": ");
  put_error(&out, error);
  return fail_hook(run, op, &out);
}

static void put_ending(struct buffer *out, int status) {
  unsigned signal = (unsigned)status & 0x7f;
  put_text(out, signal == 0 ? "exit status " : "signal: ");
  if (signal == 0) put_u64(out, (uint64_t)(status >> 8 & 0xff));
  else put_signal(out, signal);
}

static long judge(struct run *run, const struct op_hook_run *op, const struct child *child, int status, bool timed_out) {
  if (status == 0 && !timed_out) return 0;
  struct buffer out = begin_text(run, op);
  if (timed_out) {
    put_text(&out, "hook ran past specified timeout of ");
    put_u64(&out, op->timeout);
    put_text(&out, ".0s");
  } else {
    put_ending(&out, status);
    put_output(&out, ", stdout: ", &child->output[0]);
    put_output(&out, ", stderr: ", &child->output[1]);
  }
  return fail_hook(run, op, &out);
}

/* Starts the hook and learns whether execve worked: the second pipe says why not, or ends with it. */
static long start(struct run *run, const struct op_hook_run *op, const int stdio[CHILD_STDIO]) {
  int failure[2], status;
  long error = sys(__NR_pipe2, failure, O_CLOEXEC);
  if (error < 0) return error;
  long pid = sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    status = (int)become_hook(run, op, stdio);
    sys_write(failure[1], &status, sizeof status);
    sys_exit(127);
  }
  sys_close(failure[1]);
  long size = 0;
  if (pid > 0) sys_again(size, __NR_read, failure[0], &status, sizeof status);
  sys_close(failure[0]);
  if (pid < 0 || size != sizeof status) return pid;
  error = status;
  sys_again(size, __NR_wait4, pid, NULL, __WALL, NULL);
  return error;
}

/* The program must not inherit what the pipe to a hook needs. */
static void ignore_broken_pipes(bool on) {
  const struct kernel_action action = {.handler = on ? SIG_IGN_ : NULL};
  sys(__NR_rt_sigaction, SIGPIPE, &action, NULL, sizeof action.mask);
}

long op_hook_run(struct run *run, const struct op_hook_run *op) {
  int stdio[CHILD_STDIO], status;
  char pid[24];
  struct buffer number = BUFFER(pid);
  put_i64(&number, sys(__NR_getpid));
  struct child child = {
      .poll = poll_for,
      .now = now,
      .parts = {{op->state_prefix.at, op->state_prefix.length}, {pid, number.used}, {op->state_suffix.at, op->state_suffix.length}},
      .output = {{.text = texts[0], .limit = OUTPUT_MAX}, {.text = texts[1], .limit = OUTPUT_MAX}},
  };
  ignore_broken_pipes(true);
  long error = child_pipes(&child, stdio);
  if (error >= 0) {
    error = start(run, op, stdio);
    for (int i = 0; i < CHILD_STDIO; i++) sys_close(stdio[i]);
  }
  if (error < 0) {
    child_close(&child);
    ignore_broken_pipes(false);
    return fail_start(run, op, error);
  }
  child.pid = (int)error;
  child.pidfd = (int)sys(__NR_pidfd_open, child.pid, 0);
  enum child_end end = child_serve(&child, op->timeout == 0 ? -1 : (int64_t)op->timeout * NANOSECONDS, &status);
  // Processes that the hook has left behind may be children of init by now.
  while (sys(__NR_wait4, -1, NULL, WNOHANG | __WALL, NULL) > 0) continue;
  child_close(&child);
  ignore_broken_pipes(false);
  return judge(run, op, &child, status, end == CHILD_TIMED_OUT);
}
