/* What is done before there is a plan, while the runtime still works on it: nothing of it outlives the runtime unless the plan asks for it. */
#include "../shared/spin_wait.h"
#include "prepare.h"
#include "run.h"
#include "../shared/sys.h"

/* The namespaces that the container is going to have anew; of pid this is the one that the next child is born in. Without the right to make
 * them this is left to process.clone, whose error has a reader. */
static void make_namespaces(struct run *run, uint64_t flags) {
  if (flags == 0 || sys(__NR_unshare, flags) < 0) return;
  run->intermediate.made_early = flags;
  // An error here comes again in loopback.up, which reports it.
  if ((flags & CLONE_NEWNET) != 0) run->intermediate.loopback_is_up = loopback_raise() >= 0;
}

long plan_await(struct run *run, int *plan_fd) {
  // The runtime is still reading the configuration, so this costs no time.
  reset_signals(run);
  long error = wait_message(run, MESSAGE_NAMESPACES);
  if (error < 0) return error;
  if (run->progress != NULL) {
    make_namespaces(run, run->progress[PAGE_NAMESPACES]);
    if (run->progress[PAGE_CLONE] != 0) clone_early(run, run->progress[PAGE_CLONE]);
  }
  if (run->progress != NULL) prepare_filesystems(run, run->progress[PAGE_FILE_SYSTEMS]);
  error = receive_message(run, MESSAGE_PLAN, plan_fd);
  // The runtime has kept this process away from its own processor until now (pin_to_other_cpu in native-bindings/host/spawn.c).
  affinity_reset();
  return error;
}

long plan_check_clone(struct run *run) {
  if (run->init.cloned_early == 0) return 0;
  struct plan_cursor cursor = plan_begin(&run->plan);
  struct operation operation;
  while (plan_next(&run->plan, &cursor, &operation)) {
    if (operation.actor != ACTOR_INTERMEDIATE) continue;
    const struct op_process_clone *op = &operation.arguments.process_clone;
    if (operation.number != OP_process_clone || op->flags != run->init.cloned_early || op->cgroup != NO_SLOT)
      return fail(run, -EINVAL, NULL, "the plan wants another clone than was made");
  }
  return 0;
}
