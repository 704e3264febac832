/* Hooks that init runs: createContainer before the pivot, startContainer where the program will stand. */
#include "../testing/weaken.h"
#include "run.h"
#include "../shared/sys.h"

/* Of stdout and of stderr, for the error message; what comes after it is read and thrown away. */
#define OUTPUT_MAX 4096
/* How long to sleep between two looks where pidfd_open(2) is refused. */
#define STEP_NANOSECONDS 5000000
#define NANOSECONDS 1000000000
#define STDIO 3
#define SIG_IGN_ ((void *)1)

struct output {
  int fd, interruptions;
  size_t used;
  char text[OUTPUT_MAX];
};

struct hook {
  const struct op_hook_run *op;
  int pid, pidfd;
  /* What is still to be written to stdin. */
  int input;
  struct iovec state[3];
  struct output output[2];
};

/* Ends of the pipes: of the hook (0) and of init (1). */
struct pipes {
  int stdio[STDIO][2];
  /* Close-on-exec: says why execve failed, or ends with it. */
  int failure[2];
};

static struct hook the_hook;

static void close_fd(int *fd) {
  if (*fd >= 0) sys_close(*fd);
  *fd = -1;
}

static long make_pipes(struct pipes *pipes) {
  for (int i = 0; i < STDIO; i++) pipes->stdio[i][0] = pipes->stdio[i][1] = -1;
  pipes->failure[0] = pipes->failure[1] = -1;
  for (int i = 0; i < STDIO; i++) {
    int ends[2];
    long error = sys(__NR_pipe2, ends, O_CLOEXEC);
    if (error < 0) return error;
    bool is_input = i == 0;
    pipes->stdio[i][0] = ends[is_input ? 0 : 1];
    pipes->stdio[i][1] = ends[is_input ? 1 : 0];
    sys(__NR_fcntl, pipes->stdio[i][1], F_SETFL, O_NONBLOCK);
  }
  return sys(__NR_pipe2, pipes->failure, O_CLOEXEC);
}

static void close_pipes(struct pipes *pipes, int end) {
  for (int i = 0; i < STDIO; i++) close_fd(&pipes->stdio[i][end]);
}

static long place_stdio(const struct pipes *pipes) {
  int source[STDIO];
  for (int i = 0; i < STDIO; i++) {
    // Out of the way first, so that no dup overwrites a source that is still needed.
    source[i] = (int)sys(__NR_fcntl, pipes->stdio[i][0], F_DUPFD_CLOEXEC, STDIO);
    if (source[i] < 0) return source[i];
  }
  for (int i = 0; i < STDIO; i++) {
    long error = sys(__NR_dup3, source[i], i, 0);
    if (error < 0) return error;
  }
  return 0;
}

static char **hook_environment(struct run *run, const struct op_hook_run *op) {
  static char home[PATH_MAX + 8];
  if (op->inherit_env) return run->environment;
  if (!op->home || run->home[0] == 0) return make_vector(&op->env, NULL);
  struct buffer out = BUFFER(home);
  put_text(&out, "HOME=");
  put_text(&out, run->home);
  return make_vector(&op->env, home);
}

/* In the child. Returns the error that kept it from running the hook. */
static long become_hook(struct run *run, const struct op_hook_run *op, const struct pipes *pipes) {
  sys_prctl(PR_SET_PDEATHSIG, SIGKILL, 0);
  if (op->directory != NO_SLOT) {
    int directory = slot_get(run, op->directory);
    long error = directory < 0 ? directory : sys_fchdir(directory);
    if (error < 0) return error;
  }
  long error = place_stdio(pipes);
  if (error < 0) return error;
  error = close_on_exec_from(run, STDIO);
  if (error < 0) return error;
  char **arguments = make_vector(&op->args, NULL);
  char **environment = hook_environment(run, op);
  if (arguments == NULL || environment == NULL) return -ENOMEM;
  reset_process(run);
  if (op->filtered && !WEAKENED(hook_filter) && (error = seccomp_load_alone(run, op->filter_flags, op->raise != 0)) < 0) return error;
  return sys(__NR_execve, op->path.at, arguments, environment);
}

static void write_state(struct hook *hook) {
  for (int i = 0; i < 3; i++) {
    struct iovec *part = &hook->state[i];
    while (part->iov_len > 0) {
      long size = sys_write(hook->input, part->iov_base, part->iov_len);
      if (size == -EINTR || size == -EAGAIN) return;
      // A hook that does not read its input (EPIPE) is no error.
      if (size < 0) return close_fd(&hook->input);
      part->iov_base = (char *)part->iov_base + size;
      part->iov_len -= (size_t)size;
    }
  }
  close_fd(&hook->input);
}

/* False when there is nothing more to read now. */
static bool read_output(struct output *output) {
  char thrown_away[1024];
  bool full = output->used == OUTPUT_MAX;
  long size = full ? sys_read(output->fd, thrown_away, sizeof thrown_away)
                   : sys_read(output->fd, output->text + output->used, OUTPUT_MAX - output->used);
  if (size == -EINTR && output->interruptions++ < INTERRUPTIONS_MOST) return true;
  if (size == 0) close_fd(&output->fd);
  if (size <= 0) return false;
  if (!full) output->used += (size_t)size;
  return true;
}

static int64_t monotonic(void) {
  struct __kernel_timespec now = {0, 0};
  sys(__NR_clock_gettime, 1, &now);
  return now.tv_sec * NANOSECONDS + now.tv_nsec;
}

/*
 * Serves the pipes until the hook itself ends; nobody waits for what it left running. `timed_out`: it was killed. A filter of the container may
 * refuse to wait for more than one thing: then it is the hook's end only, and its pipes hold what they can.
 */
static int serve(struct hook *hook, bool *timed_out) {
  int64_t end = hook->op->timeout == 0 ? INT64_MAX : monotonic() + (int64_t)hook->op->timeout * NANOSECONDS;
  int status = 0;
  bool refused = false;
  for (;;) {
    long ended;
    sys_again(ended, __NR_wait4, hook->pid, &status, (refused ? 0 : WNOHANG) | __WALL, NULL);
    if (ended != 0 || refused) break;
    int64_t left = end == INT64_MAX ? INT64_MAX : end - monotonic();
    if (left <= 0) {
      sys_kill(hook->pid, SIGKILL);
      *timed_out = true;
      left = end = INT64_MAX;
    }
    if (hook->pidfd < 0 && left > STEP_NANOSECONDS) left = STEP_NANOSECONDS;
    struct pollfd fds[] = {
        {.fd = hook->input, .events = POLLOUT},
        {.fd = hook->output[0].fd, .events = POLLIN},
        {.fd = hook->output[1].fd, .events = POLLIN},
        {.fd = hook->pidfd, .events = POLLIN},
    };
    const struct __kernel_timespec pause = {left / NANOSECONDS, left % NANOSECONDS};
    int ready = sys_poll(fds, sizeof fds / sizeof *fds, left == INT64_MAX ? NULL : &pause);
    if (ready < 0 || (ready == 0 && left == INT64_MAX)) {
      refused = true;
      write_state(hook);
    }
    if (ready <= 0) continue;
    if (fds[0].revents != 0) write_state(hook);
    for (int i = 0; i < 2; i++)
      if (fds[i + 1].revents != 0) read_output(&hook->output[i]);
  }
  for (int i = 0; i < 2; i++)
    while (hook->output[i].fd >= 0 && hook->output[i].used < OUTPUT_MAX && read_output(&hook->output[i])) continue;
  // What the hook left behind may have become init's.
  while (sys(__NR_wait4, -1, NULL, WNOHANG | __WALL, NULL) > 0) continue;
  return status;
}

static void put_output(struct buffer *out, const char *name, const struct output *output) {
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

/* After `commit` nobody listens any more but whoever reads the report. */
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

/* signal(7), in Go's words, which are those of runc. An array of pointers would be relocated at every start of the helper. */
static const char SIGNALS[32][26] = {
    [1] = "hangup",
    [2] = "interrupt",
    [3] = "quit",
    [4] = "illegal instruction",
    [5] = "trace/breakpoint trap",
    [6] = "aborted",
    [7] = "bus error",
    [8] = "floating point exception",
    [9] = "killed",
    [11] = "segmentation fault",
    [13] = "broken pipe",
    [14] = "alarm clock",
    [15] = "terminated",
    [24] = "CPU time limit exceeded",
    [25] = "file size limit exceeded",
    [31] = "bad system call",
};

static void put_ending(struct buffer *out, int status) {
  uint64_t number = (uint64_t)(status & 0x7f);
  if (number == 0) {
    put_text(out, "exit status ");
    put_u64(out, (uint64_t)(status >> 8 & 0xff));
    return;
  }
  put_text(out, "signal: ");
  if (number < sizeof SIGNALS / sizeof *SIGNALS && SIGNALS[number][0] != 0) return put_text(out, SIGNALS[number]);
  put_text(out, "signal ");
  put_u64(out, number);
}

static long judge(struct run *run, struct hook *hook, int status, bool timed_out) {
  if (status == 0 && !timed_out) return 0;
  struct buffer out = begin_text(run, hook->op);
  if (timed_out) {
    put_text(&out, "hook ran past specified timeout of ");
    put_u64(&out, hook->op->timeout);
    put_text(&out, ".0s");
  } else {
    put_ending(&out, status);
    put_output(&out, ", stdout: ", &hook->output[0]);
    put_output(&out, ", stderr: ", &hook->output[1]);
  }
  return fail_hook(run, hook->op, &out);
}

/* Starts the child and learns whether execve worked. */
static long start(struct run *run, struct hook *hook, struct pipes *pipes) {
  long pid = sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    int32_t error = (int32_t)become_hook(run, hook->op, pipes);
    sys_write(pipes->failure[1], &error, sizeof error);
    sys_exit(127);
  }
  close_fd(&pipes->failure[1]);
  if (pid < 0) return pid;
  int32_t error = 0;
  long size;
  sys_again(size, __NR_read, pipes->failure[0], &error, sizeof error);
  hook->pid = (int)pid;
  if (size != sizeof error) return 0;
  sys_again(size, __NR_wait4, pid, NULL, __WALL, NULL);
  return error;
}

/* The program must not inherit what the pipe to a hook needs. */
static void ignore_broken_pipes(bool on) {
  const struct kernel_action action = {.handler = on ? SIG_IGN_ : NULL};
  sys(__NR_rt_sigaction, SIGPIPE, &action, NULL, sizeof action.mask);
}

long op_hook_run(struct run *run, const struct op_hook_run *op) {
  struct hook *hook = &the_hook;
  struct pipes pipes;
  char pid[24];
  struct buffer number = BUFFER(pid);
  put_i64(&number, sys(__NR_getpid));
  hook->op = op;
  hook->state[0] = (struct iovec){(void *)op->state_prefix.at, op->state_prefix.length};
  hook->state[1] = (struct iovec){pid, number.used};
  hook->state[2] = (struct iovec){(void *)op->state_suffix.at, op->state_suffix.length};
  hook->output[0].used = hook->output[1].used = 0;
  hook->output[0].interruptions = hook->output[1].interruptions = 0;
  ignore_broken_pipes(true);
  long error = make_pipes(&pipes);
  if (error >= 0) error = start(run, hook, &pipes);
  close_pipes(&pipes, 0);
  close_fd(&pipes.failure[0]);
  close_fd(&pipes.failure[1]);
  if (error < 0) {
    close_pipes(&pipes, 1);
    ignore_broken_pipes(false);
    return fail_start(run, op, error);
  }
  hook->input = pipes.stdio[0][1];
  hook->output[0].fd = pipes.stdio[1][1];
  hook->output[1].fd = pipes.stdio[2][1];
  hook->pidfd = (int)sys(__NR_pidfd_open, hook->pid, 0);
  bool timed_out = false;
  int status = serve(hook, &timed_out);
  close_fd(&hook->pidfd);
  close_fd(&hook->input);
  close_fd(&hook->output[0].fd);
  close_fd(&hook->output[1].fd);
  ignore_broken_pipes(false);
  return judge(run, hook, status, timed_out);
}
