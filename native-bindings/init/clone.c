/* The clone: where the intermediate ends and init begins. */
#include "../testing/points.h"
#include "../testing/disabled_defences.h"
#include "run.h"
#include "source.h"
#include "../shared/sys.h"

static long clone_new(uint64_t flags, int cgroup) {
  struct clone_args arguments = {.flags = flags};
  if (cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = (uint64_t)cgroup;
  }
  return sys(__NR_clone3, &arguments, sizeof arguments);
}

/* clone(2) has no CLONE_NEWTIME: its bit belongs to the exit signal. */
static long clone_old(uint64_t flags) {
  if (flags & CLONE_NEWTIME) {
    long error = sys(__NR_unshare, CLONE_NEWTIME);
    if (error < 0) return error;
  }
  return sys(__NR_clone, flags & ~(uint64_t)CLONE_NEWTIME, 0, 0, 0, 0);
}

/* Without CLONE_INTO_CGROUP init moves itself through a descriptor opened with the intermediate's rights, and makes the cgroup
 * namespace only then: its root is the cgroup of whoever makes it. */
static long clone_then_join(struct run *run, uint64_t flags, int cgroup) {
  long procs = sys_openat(cgroup, "cgroup.procs", O_WRONLY, 0);
  if (procs < 0) return fail(run, procs, "cgroup.procs", "open");
  long pid = clone_old(flags & ~(uint64_t)CLONE_NEWCGROUP);
  if (pid == 0) {
    run->is_init = true;
    long size = sys_write((int)procs, "0", 1);
    if (size < 0) return fail(run, size, "cgroup.procs", "write");
    long error = flags & CLONE_NEWCGROUP ? sys(__NR_unshare, CLONE_NEWCGROUP) : 0;
    if (error < 0) return fail(run, error, NULL, "unshare");
  }
  sys_close((int)procs);
  return pid < 0 ? fail(run, pid, NULL, "clone") : pid;
}

static _Noreturn void end_intermediate(struct run *run, long init) {
  long error = send_message(run, MESSAGE_PID, 0, (int32_t)init, NULL, NULL, -1);
  // Nobody knows of it.
  if (error < 0) sys_kill(init, SIGKILL);
  sources_end(run);
  sys_exit(error < 0 ? 1 : 0);
}

/* Who waits for a plan ends when the runtime does: its socket says so. */
void clone_early(struct run *run, uint64_t flags) {
  // There are no id maps to be written: nobody may ever look into init.
  sys_prctl(PR_SET_DUMPABLE, DEFENCE_DISABLED(dumpable), 0);
  const uint64_t left = (flags & ~run->intermediate.made_early) | CLONE_PARENT;
  trace_clone(run);
  long pid = clone_new(left, -1);
  if (is_refused(pid)) pid = clone_old(left);
  // process.clone tries again, and its error has a reader.
  if (pid < 0) return;
  if (pid > 0) end_intermediate(run, pid);
  run->is_init = true;
  run->init.cloned_early = flags;
  TESTING_BECOME("init");
  trace_birth(run);
}

long op_process_clone(struct run *run, const struct op_process_clone *op) {
  const uint64_t early = run->intermediate.made_early;
  if ((early & ~(uint64_t)op->flags) != 0) return fail(run, -EINVAL, NULL, "a namespace was made that is not in the plan");
  uint64_t flags = ((uint64_t)op->flags & ~early) | CLONE_PARENT;
  int cgroup = -1;
  if (op->cgroup != NO_SLOT && (cgroup = slot_get(run, op->cgroup)) < 0) return cgroup;
  // The runtime may set init's limits as soon as it knows the pid.
  limit_restore(run);
  long pid = clone_new(flags, cgroup);
  if (is_refused(pid) || (cgroup >= 0 && pid == -EINVAL)) pid = cgroup >= 0 ? clone_then_join(run, flags, cgroup) : clone_old(flags);
  if (pid < 0) return run->failed_text[0] != 0 ? pid : fail(run, pid, NULL, "clone");
  if (pid == 0) {
    run->is_init = true;
    if (op->cgroup != NO_SLOT) slot_close(run, op->cgroup);
    return 0;
  }
  end_intermediate(run, pid);
}
