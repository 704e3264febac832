/* runt-init: executes a plan (`plan ...`), watches over a foreground container (`monitor ...`), or waits until one is ready
 * (`notify ...`). */
#include "../testing/points.h"
#include "../testing/disabled_defences.h"
#include "../shared/inroot.h"
#include "notify.h"
#include "run.h"
#include "../shared/sys.h"

/* The state of init is too large for the stack, and there is only one. */
static struct run the_run;

static long execute(struct run *run, const struct operation *operation) {
  switch (operation->number) {
#define X(name, text, number, actors) \
  case OP_##name: return op_##name(run, &operation->arguments.name);
    HELPER_OPS(X)
#undef X
  }
  return fail(run, -ENOSYS, NULL, "unknown operation");
}

/* How long a failed init keeps its namespaces, so that the runtime can look for the reason through /proc/PID/root. The runtime closes
 * its end of the rendezvous when it is done; `start` has no way to say so. */
#define LINGER_MOST_SECONDS 2
#define LINGER_NANOSECONDS 100000000
/* As much as a pipe takes at once. */
#define REPORT_MAX 4096

/* Writes the error into exec.fifo for `start`. The other end is open there, so the text is kept after init has ended. */
static void report_to_start(struct run *run, long error) {
  int fd = run->slots == NULL ? -1 : run->slots[SLOT_FIFO].fd;
  if (fd < 0) return;
  char text[REPORT_MAX];
  struct buffer out = BUFFER(text);
  put_i64(&out, -error);
  put_text(&out, "\n");
  // A line feed in a name of the image must not begin a second line.
  if (run->failed_path != NULL) put_printable(&out, run->failed_path, strlen(run->failed_path));
  put_text(&out, "\n");
  put_text(&out, run->failed_text);
  sys_write(fd, text, out.used);
  slot_close(run, SLOT_FIFO);
  const struct __kernel_timespec time = {0, LINGER_NANOSECONDS};
  sys(__NR_nanosleep, &time, NULL);
}

static void report_to_stderr(struct run *run, long error) {
  char text[PATH_MAX + 256];
  struct buffer line = BUFFER(text);
  // Text and path may come from the image.
  put_printable(&line, run->failed_text, strlen(run->failed_text));
  if (run->failed_path != NULL) {
    put_text(&line, " ");
    put_printable(&line, run->failed_path, strlen(run->failed_path));
  }
  put_text(&line, ": ");
  put_error(&line, error);
  put_text(&line, "\n");
  sys_write(2, text, line.used);
}

static int report_failure(struct run *run, long error) {
  if (run->socket >= 0) {
    send_message(run, MESSAGE_ERROR, (int32_t)-error, 0, run->failed_path, run->failed_text, -1);
    struct pollfd poll = {.fd = run->socket};
    const struct __kernel_timespec most = {LINGER_MOST_SECONDS, 0};
    if (run->is_init) sys_poll(&poll, 1, &most);
    return 1;
  }
  report_to_stderr(run, error);
  report_to_start(run, error);
  return 255;
}

static bool init_waits_for(struct run *run, uint32_t message) {
  struct plan_cursor cursor = plan_begin(&run->plan);
  struct operation operation;
  while (plan_find(&run->plan, &cursor, OP_sync_wait, &operation))
    if (operation.arguments.sync_wait.message == message) return true;
  return false;
}

/*
 * Until the id maps are written the runtime needs init dumpable; from then on no other process may trace it. Where there are none to write it must be
 * born so: it may start its life in namespaces whose processes are waiting for it.
 */
static void hide_init(struct run *run) {
  if (!init_waits_for(run, MESSAGE_GO)) sys_prctl(PR_SET_DUMPABLE, DEFENCE_DISABLED(dumpable), 0);
}

/* The intermediate leaves this loop by ending in process.clone; init returns from there and goes on with its own operations. */
static long execute_all(struct run *run) {
  struct plan_cursor cursor = plan_begin(&run->plan);
  struct operation operation;
  while (plan_next(&run->plan, &cursor, &operation)) {
    if ((operation.actor == ACTOR_INIT) != run->is_init) continue;
    run->index = operation.index;
    if (run->progress != NULL) run->progress[run->is_init ? PAGE_INIT : PAGE_INTERMEDIATE] = operation.index + 1;
    if (run->trace != NULL) trace_begin(run, &operation);
    run->failed_path = NULL;
    run->failed_text[0] = 0;
    if (operation.number == OP_process_clone) hide_init(run);
    // A bind covers the directory that it finds or makes, and finds none by what is kept.
    if (operation.number != OP_mount_bind && operation.number != OP_cgroup_open_tree && operation.number != OP_mount_open) inroot_forget();
    long error = POINT_OPERATION(run, "before", operation.number);
    if (error == 0) error = execute(run, &operation);
    if (run->is_init && operation.number == OP_process_clone) TESTING_BECOME("init");
    if (error >= 0) error = POINT_OPERATION(run, "after", operation.number);
    if (run->trace != NULL) trace_end(run, operation.index);
    if (error < 0) return error;
    if (operation.number == OP_process_clone) {
      trace_birth(run);
      cursor = plan_begin(&run->plan);
      if (!init_waits_for(run, MESSAGE_GO)) limit_raise(run);
    }
  }
  return 0;
}

/* Only observers read it: a failure here is no error. */
static void map_progress(struct run *run, int fd) {
  if (fd < 0) return;
  long address = sys(__NR_mmap, 0, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address >= 0 || address < -4095) run->progress = (volatile uint32_t *)address;
  sys_close(fd);
}

static void begin(struct run *run, int socket, int progress_fd, int trace_fd, char **environment) {
  run->socket = socket;
  run->index = UINT32_MAX;
  run->program.environment = environment;
  run->init.mask_directory = run->init.mask_file = run->init.sources = -1;
  sys(__NR_fcntl, socket, F_SETFD, FD_CLOEXEC);
  map_progress(run, progress_fd);
  trace_map(run, trace_fd);
}

static bool waits_for_start(const struct plan *plan) {
  struct plan_cursor cursor = plan_begin(plan);
  struct operation operation;
  while (plan_next(plan, &cursor, &operation))
    if (operation.number == OP_process_wait || operation.number == OP_process_claim) return true;
  return false;
}

/* Returns the exit status of the intermediate, or of an init that failed. */
static int run_plan(struct run *run, int plan_fd) {
  const char *reason;
  long error = plan_map(plan_fd, &run->plan, &reason);
  if (error < 0) return report_failure(run, fail(run, error, NULL, reason));
  sys_close(plan_fd);
  run->init.waits_for_start = waits_for_start(&run->plan);
  error = slots_make(run);
  if (error < 0) return report_failure(run, error);
  error = plan_check_clone(run);
  if (error < 0) return report_failure(run, error);
  if (!run->is_init || !init_waits_for(run, MESSAGE_GO)) limit_raise(run);
  // Modes in plans are exact; process.umask sets what the program gets.
  run->program.saved_umask = (uint32_t)sys(__NR_umask, 0);
  error = execute_all(run);
  return error < 0 ? report_failure(run, error) : 0;
}

static bool to_fd_or_none(const char *text, int *out) { return text_equal(text, "-1") || text_to_int(text, out); }

/* plan SOCKET PLAN [PROGRESS|-1 [TRACE]], or plan SOCKET early PROGRESS [TRACE]: the plan comes as a message (early.c).
 * -1 = other arguments. */
static int plan_main(int count, char **arguments, char **environment) {
  struct run *run = &the_run;
  int socket, plan_fd, progress_fd = -1, trace_fd = -1;
  if (count < 2 || !text_to_int(arguments[0], &socket)) return -1;
  if ((count == 3 || count == 4) && text_equal(arguments[1], "early")) {
    if (!text_to_int(arguments[2], &progress_fd) || (count == 4 && !text_to_int(arguments[3], &trace_fd))) return -1;
    begin(run, socket, progress_fd, trace_fd, environment);
    long error = plan_await(run, &plan_fd);
    return error < 0 ? report_failure(run, error) : run_plan(run, plan_fd);
  }
  if (count > 4 || !text_to_int(arguments[1], &plan_fd) || (count > 2 && !to_fd_or_none(arguments[2], &progress_fd))) return -1;
  if (count == 4 && !text_to_int(arguments[3], &trace_fd)) return -1;
  begin(run, socket, progress_fd, trace_fd, environment);
  affinity_reset();
  return run_plan(run, plan_fd);
}

int helper_main(int count, char **arguments, char **environment) {
  TESTING_BEGIN(environment, count > 1 && text_equal(arguments[1], "monitor") ? "monitor" : "intermediate");
  if (count > 1 && text_equal(arguments[1], "plan")) {
    int status = plan_main(count - 2, arguments + 2, environment);
    if (status >= 0) return status;
  }
  if (count > 2 && text_equal(arguments[1], "monitor")) return monitor_main(count - 2, arguments + 2, environment);
  if (count > 2 && text_equal(arguments[1], "notify")) return notify_main(count - 2, arguments + 2);
  static const char usage[] = "runt-init is started by runt\n";
  sys_write(2, usage, sizeof usage - 1);
  return 2;
}
