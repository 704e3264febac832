#include "log_keeper.h"

#include "../testing/points.h"
#include "fresh.h"
#include "run.h"
#include "../shared/str.h"
#include "../shared/sys.h"

/* A pump that lived for a shorter time is not replaced at once: the same cause may end the next one, too. */
#define YOUNG 100000000ull
/* How long the container waits for its first pump, in seconds. One that hangs (it is stopped, or a file system does not answer) is the log's loss alone. */
#define BEGIN_MOST 5

enum { FIRST_KEPT = 3, LAST_CLOSED = 1024 };

static long map_state(struct log_keeper *keeper) {
  // Anonymous memory, not a file: a page of a file cannot be written when the disk is full.
  long address = sys(__NR_mmap, 0, sizeof *keeper->state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (address < 0 && address >= -4095) return address;
  keeper->state = (struct log_state *)address;
  return 0;
}

long log_keeper_begin(struct log_keeper *keeper, const struct monitor_options *options, const struct record *record) {
  char path[PATH_MAX];
  struct buffer counts = BUFFER(path);
  *keeper = (struct log_keeper){
      .path = options->log,
      .size_max = options->log_size,
      .count_max = options->log_files,
      .pid = -1,
      .counts = -1,
      .begun = -1,
  };
  if (keeper->path == NULL) return 0;
  if (record->path == NULL || keeper->size_max == 0 || keeper->count_max == 0) return -EINVAL;
  long error = map_state(keeper);
  if (error >= 0) error = sys(__NR_pipe2, keeper->queue, O_CLOEXEC | O_NONBLOCK);
  if (error >= 0) error = sys(__NR_pipe2, keeper->life, O_CLOEXEC);
  if (error < 0) return error;
  // Only observers read the counts. Without them the pump works all the same.
  put_text(&counts, record->path);
  put_text(&counts, ".log");
  if (!counts.truncated) keeper->counts = fresh_open(path);
  const struct kernel_action standard = {0};
  sys(__NR_rt_sigaction, SIGCHLD, &standard, NULL, sizeof standard.mask);
  return 0;
}

/* The descriptors become the first ones after stdio, and there are no others: a lock, a terminal or a pidfd that a pump had would outlive the monitor. */
static long keep_only(int *fds[], int count) {
  for (int i = 0; i < count; i++) {
    if (*fds[i] < 0) continue;
    long above = sys(__NR_fcntl, *fds[i], F_DUPFD_CLOEXEC, FIRST_KEPT + count);
    if (above < 0) return above;
    *fds[i] = (int)above;
  }
  int null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
  for (int fd = 0; fd < FIRST_KEPT && null >= 0; fd++) sys(__NR_dup3, null, fd, O_CLOEXEC);
  for (int i = 0; i < count; i++) {
    if (*fds[i] < 0) sys_close(FIRST_KEPT + i);
    else if (sys(__NR_dup3, *fds[i], FIRST_KEPT + i, O_CLOEXEC) < 0) return -EBADF;
    else *fds[i] = FIRST_KEPT + i;
  }
  if (is_refused(sys(__NR_close_range, FIRST_KEPT + count, LAST_DESCRIPTOR, 0)))
    for (int fd = FIRST_KEPT + count; fd < LAST_CLOSED; fd++) sys_close(fd);
  return 0;
}

static _Noreturn void become_pump(const struct log_keeper *keeper, const struct record *record) {
  struct log_pump pump = {
      .state = keeper->state,
      .file = {.path = keeper->path, .size_max = keeper->size_max, .count_max = keeper->count_max, .fd = -1},
      .sources = {record->kept[0], record->kept[1]},
      .queue = {keeper->queue[0], keeper->queue[1]},
      .life = keeper->life[0],
      .counts = keeper->counts,
      .begun = keeper->begun,
  };
  int *fds[] = {&pump.sources[0], &pump.sources[1], &pump.queue[0], &pump.queue[1], &pump.life, &pump.counts, &pump.begun};
  sys_prctl(PR_SET_NAME, (unsigned long)"runt-log", 0);
  TESTING_BECOME(keeper->was_started ? "log-again" : "log");
  if (keep_only(fds, sizeof fds / sizeof *fds) < 0) sys_exit(1);
  log_pump(&pump);
  sys_exit(0);
}

static bool is_wanted(const struct log_keeper *keeper) { return keeper->path != NULL && keeper->pid < 0 && !keeper->is_done; }

bool log_keeper_serve(struct log_keeper *keeper, const struct record *record) {
  if (!is_wanted(keeper)) return false;
  if (keeper->was_started && trace_now() - keeper->began < YOUNG) return true;
  keeper->began = trace_now();
  long pid = sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) become_pump(keeper, record);
  keeper->was_started = true;
  if (pid < 0) return true;
  keeper->pid = (int)pid;
  return false;
}

void log_keeper_start(struct log_keeper *keeper, const struct record *record) {
  int begun[2];
  if (keeper->path == NULL || sys(__NR_pipe2, begun, O_CLOEXEC) < 0) return;
  keeper->begun = begun[1];
  log_keeper_serve(keeper, record);
  keeper->begun = -1;
  sys_close(begun[1]);
  // The pipe also ends when the pump dies before it has begun.
  struct pollfd row = {.fd = begun[0]};
  const struct __kernel_timespec most = {BEGIN_MOST, 0};
  sys_poll(&row, 1, &most);
  sys_close(begun[0]);
}

void log_keeper_reap(struct log_keeper *keeper, int pid, int wait_status) {
  if (keeper->path == NULL || pid != keeper->pid) return;
  keeper->pid = -1;
  keeper->is_done = wait_status == 0;
}

void log_keeper_end(struct log_keeper *keeper) {
  if (keeper->path == NULL) return;
  __atomic_store_n(&keeper->state->is_ending, 1, __ATOMIC_SEQ_CST);
  sys_close(keeper->life[1]);
}

bool log_keeper_is_over(const struct log_keeper *keeper) { return keeper->path == NULL || keeper->is_done; }

void log_keeper_stop(struct log_keeper *keeper) {
  // Not reaped yet, so the number is still the pump's.
  if (keeper->path != NULL && keeper->pid >= 0) sys_kill(keeper->pid, SIGKILL);
  keeper->is_done = true;
}
