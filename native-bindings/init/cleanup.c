#include "cleanup.h"

#include "../testing/points.h"
#include "str.h"
#include "sys.h"

/* A cgroup stays busy for a moment after its last process has been reaped; together about 10 ms. */
static const long RMDIR_PAUSES[] = {100000, 200000, 500000, 1000000, 3000000, 5000000};

static long remove_directory(const char *path) {
  long error = sys(__NR_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
  for (size_t i = 0; i < sizeof RMDIR_PAUSES / sizeof *RMDIR_PAUSES && error == -EBUSY; i++) {
    const struct __kernel_timespec pause = {0, RMDIR_PAUSES[i]};
    sys(__NR_clock_nanosleep, 1, 0, &pause, NULL);
    error = sys(__NR_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
  }
  return error;
}

static bool run_steps(char **steps, int count) {
  for (int i = 0; i + 1 < count; i += 2) {
    POINT("before", steps[i]);
    if (text_equal(steps[i], "--try-rmdir")) {
      sys(__NR_unlinkat, AT_FDCWD, steps[i + 1], AT_REMOVEDIR);
      continue;
    }
    long error = text_equal(steps[i], "--rmdir") ? remove_directory(steps[i + 1]) : sys(__NR_unlinkat, AT_FDCWD, steps[i + 1], 0);
    if (error < 0 && error != -ENOENT) return false;
  }
  return count > 0;
}

static bool run_command(int executable, char **command, char **environment) {
  long pid = sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    const uint64_t none = 0;
    sys(__NR_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    if (is_refused(sys(__NR_execveat, executable, "", command, environment, AT_EMPTY_PATH))) {
      char path[32];
      struct buffer out = BUFFER(path);
      put_text(&out, "/proc/self/fd/");
      put_u64(&out, executable);
      sys(__NR_execve, path, command, environment);
    }
    sys_exit(127);
  }
  if (pid < 0) return false;
  POINT("after", "clone");
  int status = -1;
  long ended;
  do ended = sys(__NR_wait4, pid, &status, __WALL, NULL);
  while (ended == -EINTR);
  return ended == pid && status == 0;
}

bool clean_up(char **steps, int step_count, int executable, char **command, char **environment) {
  if (run_steps(steps, step_count)) return true;
  return command[0] != NULL && run_command(executable, command, environment);
}
