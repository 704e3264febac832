#include "cleanup.h"

#include "../testing/points.h"
#include "run.h"
#include "../shared/str.h"
#include "../shared/sys.h"

#define MILLISECOND 1000000ull
/* How long another verb may hold the lock of ROOT/ID: a forced delete waits this long for the end of a container. */
#define LOCK_MOST (10000 * MILLISECOND)
#define LOCK_PAUSE_LEAST (MILLISECOND / 10)
#define LOCK_PAUSE_MOST (20 * MILLISECOND)
/* A child's end may come without SIGCHLD, when the caller ignores that. */
#define CHILD_PAUSE (100 * MILLISECOND)

enum { FLOCK_EXCLUSIVE_NOW = 2 | 4, FLOCK_FREE = 8 };

/* A cgroup stays busy for a moment after its last process has been reaped; together about 10 ms. */
static const long RMDIR_PAUSES[] = {100000, 200000, 500000, 1000000, 3000000, 5000000};

bool cleanup_begin(struct cleanup *cleanup, const struct monitor_options *options) {
  cleanup->state = options->state;
  cleanup->state_path = options->state_path;
  if (cleanup->state < 0) return true;
  // Create has held the lock until here.
  return cleanup->state_path != NULL && sys(__NR_flock, cleanup->state, FLOCK_FREE) >= 0;
}

enum state { STATE_OURS, STATE_GONE, STATE_UNKNOWN };

/* The directory is held open, so no other directory gets its inode: the same numbers mean the same directory. */
static enum state look(const struct cleanup *cleanup) {
  struct stat held, named;
  if (sys_fstat(cleanup->state, &held) < 0) return STATE_UNKNOWN;
  long error = sys(__NR_newfstatat, AT_FDCWD, cleanup->state_path, &named, AT_SYMLINK_NOFOLLOW);
  if (error == -ENOENT || error == -ENOTDIR) return STATE_GONE;
  if (error < 0) return STATE_UNKNOWN;
  return held.st_ino == named.st_ino && held.st_dev == named.st_dev ? STATE_OURS : STATE_GONE;
}

/* STATE_OURS: and it is locked. flock(2) itself would wait for ever. */
static enum state lock(const struct cleanup *cleanup, struct ending *ending) {
  uint64_t pause = LOCK_PAUSE_LEAST;
  for (;;) {
    long error = sys(__NR_flock, cleanup->state, FLOCK_EXCLUSIVE_NOW);
    if (error < 0 && error != -EAGAIN && error != -EINTR) return STATE_UNKNOWN;
    if (error == 0) POINT("after", "lock");
    enum state state = look(cleanup);
    if (error == 0 || state == STATE_GONE) return state;
    if (!ending_wait(ending, (struct pollfd){.fd = -1}, pause) || ending_waited(ending) > LOCK_MOST) return STATE_UNKNOWN;
    if (pause < LOCK_PAUSE_MOST) pause *= 2;
  }
}

static long remove_directory(int state, const char *path) {
  long error = sys(__NR_unlinkat, state, path, AT_REMOVEDIR);
  for (size_t i = 0; i < sizeof RMDIR_PAUSES / sizeof *RMDIR_PAUSES && error == -EBUSY; i++) {
    const struct __kernel_timespec pause = {0, RMDIR_PAUSES[i]};
    sys(__NR_clock_nanosleep, 1, 0, &pause, NULL);
    error = sys(__NR_unlinkat, state, path, AT_REMOVEDIR);
  }
  return error;
}

static bool run_steps(const struct cleanup *cleanup) {
  char **steps = cleanup->steps;
  for (int i = 0; i + 1 < cleanup->step_count; i += 2) {
    POINT("before", steps[i]);
    if (text_equal(steps[i], MONITOR_TRY_RMDIR)) {
      sys(__NR_unlinkat, cleanup->state, steps[i + 1], AT_REMOVEDIR);
      continue;
    }
    long error = text_equal(steps[i], MONITOR_RMDIR) ? remove_directory(cleanup->state, steps[i + 1])
                                                     : sys(__NR_unlinkat, cleanup->state, steps[i + 1], 0);
    if (error < 0 && error != -ENOENT) return false;
  }
  return cleanup->step_count > 0;
}

static _Noreturn void become_command(const struct cleanup *cleanup) {
  const uint64_t none = 0;
  sys(__NR_fcntl, cleanup->state, F_SETFD, 0);
  sys(__NR_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
  if (is_refused(sys(__NR_execveat, cleanup->executable, "", cleanup->command, cleanup->environment, AT_EMPTY_PATH))) {
    char path[32];
    struct buffer out = BUFFER(path);
    put_text(&out, "/proc/self/fd/");
    put_u64(&out, cleanup->executable);
    sys(__NR_execve, path, cleanup->command, cleanup->environment);
  }
  sys_exit(127);
}

static bool run_command(const struct cleanup *cleanup, struct ending *ending) {
  if (cleanup->command[0] == NULL) return false;
  long pid = sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) become_command(cleanup);
  if (pid < 0) return false;
  POINT("after", "clone");
  int status = -1;
  long ended;
  // Hooks after the end take the time that they need; a signal ends them.
  while ((ended = sys(__NR_wait4, pid, &status, WNOHANG | __WALL, NULL)) == 0 || ended == -EINTR)
    if (!ending_wait(ending, (struct pollfd){.fd = -1}, CHILD_PAUSE)) sys(__NR_kill, pid, SIGTERM);
  return ended == pid ? status == 0 : look(cleanup) == STATE_GONE;
}

static void say_left(const struct cleanup *cleanup, const char *why) {
  char line[PATH_MAX + 256];
  struct buffer out = BUFFER(line);
  const char *id = cleanup->state_path;
  for (const char *at = id; *at != 0; at++)
    if (*at == '/') id = at + 1;
  put_text(&out, "runt: the container has ended, but ");
  put_text(&out, cleanup->state_path);
  put_text(&out, " is left, and perhaps its cgroup: ");
  put_text(&out, why);
  put_text(&out, " (runt delete --force ");
  put_text(&out, id);
  put_text(&out, " removes it)\n");
  sys_write(2, line, out.used);
}

enum cleanup_result clean_up(const struct cleanup *cleanup, struct ending *ending) {
  if (cleanup->state < 0 || (cleanup->step_count == 0 && cleanup->command[0] == NULL)) return CLEANUP_KEPT;
  enum state state = lock(cleanup, ending);
  if (state == STATE_UNKNOWN) say_left(cleanup, "another verb holds its lock, or it cannot be looked at");
  bool is_clean = state == STATE_GONE || (state == STATE_OURS && (run_steps(cleanup) || run_command(cleanup, ending)));
  if (state == STATE_OURS && !is_clean) say_left(cleanup, "it could not be removed");
  // Who waits for it need not wait for a reader of the output.
  sys(__NR_flock, cleanup->state, FLOCK_FREE);
  return is_clean ? CLEANUP_CLEAN : CLEANUP_LEFT;
}
