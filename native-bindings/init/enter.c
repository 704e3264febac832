/* exec: into the namespaces of a container that exists, whose processes are hostile from then on. */
#include "../shared/process_stat.h"
#include "../testing/disabled_defences.h"
#include "run.h"
#include "../shared/sys.h"

#define TRIES 2

/* The user namespace stands apart: it decides over the rights to join the others. */
static const struct {
  uint32_t flag;
  const char *name;
} NAMESPACES[] = {
    {CLONE_NEWIPC, "ipc"},   {CLONE_NEWUTS, "uts"}, {CLONE_NEWNET, "net"}, {CLONE_NEWCGROUP, "cgroup"},
    {CLONE_NEWTIME, "time"}, {CLONE_NEWPID, "pid"}, {CLONE_NEWNS, "mnt"},
};
#define NAMESPACE_COUNT (sizeof NAMESPACES / sizeof *NAMESPACES)

static int open_of(struct run *run, uint32_t pid, const char *name, unsigned flags) {
  char path[64];
  struct buffer out = BUFFER(path);
  put_u64(&out, pid);
  put_text(&out, "/");
  put_text(&out, name);
  int proc = proc_get(run);
  return proc < 0 ? proc : sys_openat(proc, path, flags, 0);
}

/* True if the process is alive and started then. */
static bool started_at(struct run *run, uint32_t pid, uint64_t start_time) {
  char line[1024];
  struct process_stat stat;
  uint64_t value;
  int fd = open_of(run, pid, "stat", O_RDONLY);
  if (fd < 0) return false;
  long size = sys_read(fd, line, sizeof line - 1);
  sys_close(fd);
  if (size <= 0) return false;
  line[size] = 0;
  return process_stat_parse(line, &stat) && !process_is_dead(&stat) && text_to_u64(stat.start_time, &value) && value == start_time;
}

static long join(int fd, uint32_t flag) {
  long error = fd < 0 ? fd : sys(__NR_setns, fd, flag);
  if (fd >= 0) sys_close(fd);
  return error;
}

/* Before Linux 5.8, and where pidfds are refused: one file at a time. What the caller may not join from outside it joins from
 * inside the user namespace. */
static long join_each(struct run *run, const struct op_namespace_enter *op, uint32_t flags, const char **failed) {
  int files[NAMESPACE_COUNT], user = -1;
  for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
    char path[16] = "ns/";
    struct buffer out = {path, sizeof path, 3, false};
    put_text(&out, NAMESPACES[i].name);
    files[i] = flags & NAMESPACES[i].flag ? open_of(run, op->pid, path, O_RDONLY) : -1;
  }
  if (flags & CLONE_NEWUSER) user = open_of(run, op->pid, "ns/user", O_RDONLY);
  long error = started_at(run, op->pid, op->start_time) ? 0 : -ESRCH;
  uint32_t left = flags & ~(uint32_t)CLONE_NEWUSER;
  for (int try = 0; try < TRIES && error >= 0; try++) {
    for (size_t i = 0; i < NAMESPACE_COUNT && error >= 0; i++) {
      if ((left & NAMESPACES[i].flag) == 0) continue;
      *failed = NAMESPACES[i].name;
      error = files[i] < 0 ? files[i] : sys(__NR_setns, files[i], NAMESPACES[i].flag);
      if (error >= 0) left &= ~NAMESPACES[i].flag;
      else if (error == -EPERM && try == 0 && (flags & CLONE_NEWUSER)) error = 0;
    }
    if (try > 0 || error < 0 || (flags & CLONE_NEWUSER) == 0) continue;
    *failed = "user";
    error = join(user, CLONE_NEWUSER);
  }
  for (size_t i = 0; i < NAMESPACE_COUNT; i++)
    if (files[i] >= 0) sys_close(files[i]);
  return error;
}

long op_namespace_enter(struct run *run, const struct op_namespace_enter *op) {
  uint32_t flags = op->flags;
  const char *failed = NULL;
  // Before the first namespace is joined: afterwards processes of the container may look at this one.
  sys_prctl(PR_SET_DUMPABLE, DEFENCE_DISABLED(dumpable), 0);
  int pidfd = (int)sys(__NR_pidfd_open, op->pid, 0);
  if (pidfd == -ESRCH || !started_at(run, op->pid, op->start_time)) {
    if (pidfd >= 0) sys_close(pidfd);
    return fail(run, -ESRCH, NULL, "the container's init is gone");
  }
  if (flags & CLONE_NEWUSER) {
    // Entering the user namespace one is in is refused.
    int user = open_of(run, op->pid, "ns/user", O_PATH);
    if (user >= 0 && is_own_user_namespace(user)) flags &= ~(uint32_t)CLONE_NEWUSER;
    if (user >= 0) sys_close(user);
  }
  long error = flags == 0 ? 0 : pidfd < 0 ? pidfd : sys(__NR_setns, pidfd, flags);
  if (pidfd >= 0) sys_close(pidfd);
  if (is_refused(error) || error == -EINVAL) error = join_each(run, op, flags, &failed);
  return finish(run, error, failed, "setns");
}

long op_root_current(struct run *run, const struct op_root_current *op) {
  int fd = sys_openat(AT_FDCWD, op->path.at, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
  if (fd < 0) return fail(run, fd, op->path.at, "open");
  long error = sys_fchdir(fd);
  if (error >= 0) return slot_put(run, SLOT_ROOT, fd);
  sys_close(fd);
  return fail(run, error, op->path.at, "chdir");
}
