/* Rendezvous as operations of a plan. */
#include "run.h"
#include "../shared/sys.h"

long op_sync_send(struct run *run, const struct op_sync_send *op) {
  // After `ready` the runtime sets the container's own limits.
  limit_restore(run);
  long error = send_message(run, op->message, 0, 0, NULL, NULL, -1);
  // Nobody is there to hear of it.
  if (error == -EPIPE || error == -ECONNRESET) sys_exit(1);
  return finish(run, error, NULL, "sendmsg");
}

long op_sync_wait(struct run *run, const struct op_sync_wait *op) {
  if (op->message == MESSAGE_CGROUP) return cgroups_await(run);
  long error = wait_message(run, op->message);
  if (error < 0) return error;
  if (op->message == MESSAGE_GO) {
    // The id maps are written: from here on no process of the container may inspect this one.
    sys_prctl(PR_SET_DUMPABLE, 0, 0);
    limit_raise(run);
  }
  if (op->message == MESSAGE_RESUME) limit_raise(run);
  if (op->message == MESSAGE_COMMIT && run->init.waits_for_start) {
    sys_close(run->socket);
    run->socket = -1;
  }
  return 0;
}
