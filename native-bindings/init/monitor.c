/* The foreground of `run`: takes the place of the runtime (by execve, so that init is its child), forwards signals and the
 * terminal, and ends with the container's status. */
#include "../testing/points.h"
#include "cleanup.h"
#include "log_keeper.h"
#include "monitor_deadline.h"
#include "monitor_options.h"
#include "monitor_record.h"
#include "notify.h"
#include "run.h"
#include "../shared/sys.h"
#include "terminal.h"
#include "trace.h"

/* How often the master is read while no process has the container's side of the terminal open. */
#define IDLE_NANOSECONDS 50000000
#define SECOND 1000000000ull
#define STATUS_FAILED 255
/* How long the last lines may take to get into the log. */
#define LOG_MOST 10000000000ull

enum { ROW_INIT, ROW_SIGNALS, ROW_NOTIFY, ROW_MANAGER, ROW_SIZES, ROW_DEADLINE, ROW_TERMINAL, ROW_COUNT = ROW_TERMINAL + 3 };

struct monitor {
  int init, init_fd, signals;
  bool ended;
  /* What the shell would say; and as of wait4(2), -1 = unknown. */
  int status, wait_status;
  struct terminal terminal;
  struct notify notify;
  struct record record;
  struct log_keeper log;
  struct cleanup cleanup;
  struct ending ending;
  struct deadline deadline;
  struct monitor_trace trace;
};

static struct monitor the_monitor;

static void reap(struct monitor *monitor) {
  int status;
  long pid;
  // As a subreaper it may have other children than init.
  while ((pid = sys(__NR_wait4, -1, &status, WNOHANG | __WALL, NULL)) > 0 || pid == -EINTR) {
    if (pid > 0) log_keeper_reap(&monitor->log, (int)pid, status);
    if (pid != monitor->init) continue;
    monitor->ended = true;
    monitor->status = (status & 0x7f) == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f);
    monitor->wait_status = status;
  }
  if (pid == -ECHILD && !monitor->ended) {
    monitor->ended = true;
    monitor->status = STATUS_FAILED;
  }
}

static bool is_forwarded(struct monitor *monitor, const struct signalfd_siginfo *signal) {
  switch (signal->ssi_signo) {
  case SIGCHLD:
  case SIGURG:
  case SIGTTIN:
  case SIGTTOU: return false;
  case SIGPIPE:
    // SIGPIPE of this process, from a write whose reader has ended.
    return signal->ssi_pid != (uint32_t)sys(__NR_getpid);
  case SIGWINCH: return monitor->terminal.master < 0;
  }
  return true;
}

static void send(const struct monitor *monitor, int signal) {
  long error = sys(__NR_pidfd_send_signal, monitor->init_fd, signal, NULL, 0);
  // Not reaped yet, so the number is still init's.
  if (is_refused(error) || monitor->init_fd < 0) sys_kill(monitor->init, signal);
}

static void take_signals(struct monitor *monitor) {
  struct signalfd_siginfo signal;
  while (sys_read(monitor->signals, &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGWINCH) terminal_resize(&monitor->terminal);
    if (signal.ssi_signo == SIGCHLD) reap(monitor);
    if (is_forwarded(monitor, &signal) && !monitor->ended) send(monitor, (int)signal.ssi_signo);
  }
}

/* The deadline kills init. Without a PID namespace other processes of the container may live on: the removal of the container ends them. */
static void keep_deadline(struct monitor *monitor) {
  if (deadline_left(&monitor->deadline) > 0) return;
  monitor->deadline.at = 0;
  send(monitor, SIGKILL);
}

static void watch(struct monitor *monitor) {
  while (!monitor->ended) {
    struct pollfd rows[ROW_COUNT];
    rows[ROW_INIT] = (struct pollfd){.fd = monitor->init_fd, .events = POLLIN};
    rows[ROW_SIGNALS] = (struct pollfd){.fd = monitor->signals, .events = POLLIN};
    rows[ROW_NOTIFY] = (struct pollfd){.fd = monitor->notify.container, .events = POLLIN};
    rows[ROW_MANAGER] = (struct pollfd){.fd = monitor->notify.is_pending ? monitor->notify.host : -1, .events = POLLOUT};
    rows[ROW_SIZES] = (struct pollfd){.fd = monitor->terminal.sizes, .events = POLLIN};
    rows[ROW_DEADLINE] = (struct pollfd){.fd = monitor->deadline.fd, .events = POLLIN};
    terminal_wants(&monitor->terminal, rows + ROW_TERMINAL);
    // Where pidfds are refused, SIGCHLD tells of init's end, unless the caller ignores it.
    bool looks = log_keeper_serve(&monitor->log, &monitor->record) || monitor->terminal.idle || monitor->init_fd < 0;
    uint64_t most = deadline_left(&monitor->deadline);
    if (looks && most > IDLE_NANOSECONDS) most = IDLE_NANOSECONDS;
    const struct __kernel_timespec pause = {(long)(most / SECOND), (long)(most % SECOND)};
    long count = sys_poll(rows, ROW_COUNT, most == UINT64_MAX ? NULL : &pause);
    keep_deadline(monitor);
    if (count < 0) continue;
    if (rows[ROW_DEADLINE].revents != 0) deadline_take(&monitor->deadline);
    if (rows[ROW_SIGNALS].revents != 0) take_signals(monitor);
    if ((rows[ROW_NOTIFY].revents | rows[ROW_MANAGER].revents) != 0) notify_take(&monitor->notify);
    if (rows[ROW_SIZES].revents != 0) terminal_take_sizes(&monitor->terminal);
    terminal_serve(&monitor->terminal, rows + ROW_TERMINAL);
    if (rows[ROW_INIT].revents != 0 || monitor->init_fd < 0) reap(monitor);
  }
  if (monitor->notify.container >= 0) notify_take(&monitor->notify);
}

/* The container has ended, and what it has printed goes into its log before anybody hears that nothing of it is left. */
static void end_log(struct monitor *monitor) {
  uint64_t deadline = trace_now() + LOG_MOST;
  bool has_writer = monitor->terminal.master >= 0;
  if (monitor->log.path == NULL) return;
  // A terminal's output goes into the pipe first, for as long as there is a pump that makes room.
  if (!has_writer) log_keeper_end(&monitor->log);
  while (!log_keeper_is_over(&monitor->log) && trace_now() < deadline) {
    log_keeper_serve(&monitor->log, &monitor->record);
    if (has_writer && terminal_flush(&monitor->terminal)) {
      terminal_leave_output(&monitor->terminal);
      has_writer = false;
      log_keeper_end(&monitor->log);
    }
    if (!ending_wait(&monitor->ending, (struct pollfd){.fd = has_writer ? 1 : -1, .events = POLLOUT}, IDLE_NANOSECONDS)) break;
    reap(monitor);
  }
  if (!log_keeper_is_over(&monitor->log)) log_keeper_stop(&monitor->log);
}

/* OPTION... [MONITOR_RMDIR PATH | MONITOR_TRY_RMDIR PATH | MONITOR_UNLINK PATH]... -- [ARGV...] (src/shared/protocol/monitor.ts) */
int monitor_main(int count, char **arguments, char **environment) {
  struct monitor *monitor = &the_monitor;
  struct monitor_options options;
  int first = 0, steps = 0;
  while (steps < count && !text_equal(arguments[steps], "--")) steps++;
  if (steps == count) return 2;

  const uint64_t all = UINT64_MAX;
  sys(__NR_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
  if (!monitor_options_take(&options, arguments, steps, &first)) return 2;
  if (!cleanup_begin(&monitor->cleanup, &options) || !record_take(&monitor->record, &options)) return 2;
  if (options.notify >= 0 && options.notify_host < 0) return 2;
  monitor->trace.fd = options.trace;
  monitor->trace.began = monitor_time(&monitor->trace);
  // The service's main process is this one: its end is the container's, with the same status.
  monitor->notify = (struct notify){.container = options.notify, .host = options.notify_host, .main_pid = sys(__NR_getpid)};
  monitor->terminal.sizes = options.sizes;
  monitor->deadline.fd = options.deadline;
  monitor->wait_status = -1;
  monitor->init = options.init;
  monitor->init_fd = options.pidfd;
  monitor->signals = (int)sys(__NR_signalfd4, -1, &all, sizeof all, O_CLOEXEC | O_NONBLOCK);
  if (monitor->signals < 0) return STATUS_FAILED;
  monitor->ending.signals = monitor->signals;
  monitor->cleanup.steps = arguments + first;
  monitor->cleanup.step_count = steps - first;
  monitor->cleanup.executable = options.executable;
  monitor->cleanup.command = arguments + steps + 1;
  monitor->cleanup.environment = environment;
  terminal_open(&monitor->terminal, options.console);
  record_begin(&monitor->record, options.console >= 0);
  if (log_keeper_begin(&monitor->log, &options, &monitor->record) < 0) return STATUS_FAILED;
  terminal_own_output(&monitor->terminal);
  log_keeper_start(&monitor->log, &monitor->record);
  record_ready(&monitor->record);
  POINT("before", "watch");
  watch(monitor);
  POINT("after", "watch");
  monitor->trace.ended = monitor_time(&monitor->trace);
  record_ended(&monitor->record, monitor->wait_status);
  // The rest of a terminal's output goes to whoever reads, or else into a file.
  if (options.console >= 0 && monitor->log.path == NULL) record_settle(&monitor->record);
  // The end of the container does not wait for a slow reader: the reader gets the rest after the container is removed.
  terminal_flush(&monitor->terminal);
  bool is_clean = clean_up(&monitor->cleanup, &monitor->ending) == CLEANUP_CLEAN;
  POINT("after", "cleanup");
  end_log(monitor);
  terminal_finish(&monitor->terminal, &monitor->ending);
  record_settle(&monitor->record);
  if (is_clean) record_exited(&monitor->record);
  monitor_append(&monitor->trace);
  return monitor->status;
}
