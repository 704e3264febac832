/* What outer does before there is a plan, while the runtime still works on it. Nothing of it outlives outer unless the plan asks for it. */
#include "run.h"
#include "sys.h"

/* The namespaces that the container is going to have anew. Without the right to make one this is left to process.clone, whose error
 * has a reader. */
static void make_namespaces(struct run *run, uint64_t flags) {
  if ((flags & CLONE_NEWNET) == 0 || sys(__NR_unshare, CLONE_NEWNET) < 0) return;
  run->made_ahead = CLONE_NEWNET;
  // What fails here fails in loopback.up too.
  loopback_raise();
}

long plan_await(struct run *run, uint64_t flags, int *plan_fd) {
  make_namespaces(run, flags);
  return receive_message(run, MESSAGE_PLAN, plan_fd);
}
