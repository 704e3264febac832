/*
 * The process that opens sources for init where init may not go (source.c): in the same mount namespace, with the rights of the host. It ends when
 * init enters its root, or ends.
 */
#include "mount.h"
#include "run.h"
#include "source.h"
#include "../shared/sys.h"

struct server {
  int own, entered;
};

static bool find(struct run *run, uint32_t index, struct operation *out) {
  struct plan_cursor cursor = plan_begin(&run->plan);
  while (plan_next(&run->plan, &cursor, out))
    if (out->index == index) return out->actor == ACTOR_INIT;
  return false;
}

static long open_operation(struct run *run, const struct operation *operation, uint32_t *slot, bool *recursive) {
  if (operation->number == OP_mount_open) {
    *slot = operation->arguments.mount_open.slot;
    *recursive = operation->arguments.mount_open.recursive;
    return op_mount_open(run, &operation->arguments.mount_open);
  }
  *slot = operation->arguments.mount_open_link.slot;
  *recursive = operation->arguments.mount_open_link.recursive;
  return op_mount_open_link(run, &operation->arguments.mount_open_link);
}

/* What is below a mount of the host is locked onto it in init's namespace, and no part can be bound alone. In the host's it can, but such a clone
 * has no locked flags: only where there is none to be locked. */
static long open_on_host(struct run *run, const struct server *server, const struct operation *operation) {
  uint32_t slot;
  bool recursive;
  struct statfs filesystem;
  long error = sys(__NR_setns, server->own, CLONE_NEWNS);
  if (error < 0) return error;
  error = open_operation(run, operation, &slot, &recursive);
  if (error >= 0) error = sys_fstatfs(run->slots[slot].fd, &filesystem);
  if (error >= 0 && (filesystem.f_flags & (STATFS_RDONLY | STATFS_NOSUID | STATFS_NODEV | STATFS_NOEXEC)) != 0) error = -EINVAL;
  long back = sys(__NR_setns, server->entered, CLONE_NEWNS);
  run->slots[slot].is_foreign = true;
  return back < 0 ? back : error;
}

static long answer_open(struct run *run, const struct server *server, const struct operation *operation, struct source_answer *answer) {
  uint32_t slot;
  bool recursive;
  long error = open_operation(run, operation, &slot, &recursive);
  if (error == -EINVAL && !recursive) error = open_on_host(run, server, operation);
  if (error < 0) return error;
  const struct slot *opened = &run->slots[slot];
  *answer = (struct source_answer){0, opened->is_detached, opened->is_link, opened->is_foreign};
  return opened->fd;
}

static long answer_map(struct run *run, const struct op_mount_idmap *op, int mount) {
  long error = slot_fill(run, op->slot, &(struct slot){.fd = mount, .is_detached = true});
  return error < 0 ? error : op_mount_idmap(run, op);
}

static void answer(struct run *run, struct server *server, int socket, uint32_t index, int descriptor) {
  struct source_answer out = {0};
  struct operation operation;
  long result = -EPROTO;
  int reply = -1;
  if (index == SOURCE_ENTER) {
    server->own = source_own_mounts(run);
    server->entered = descriptor;
    result = server->own < 0 ? server->own : sys(__NR_setns, descriptor, CLONE_NEWNS);
  } else if (find(run, index, &operation)) {
    if (operation.number == OP_mount_idmap && descriptor >= 0) result = answer_map(run, &operation.arguments.mount_idmap, descriptor);
    else if (operation.number == OP_mount_open || operation.number == OP_mount_open_link)
      reply = (int)(result = answer_open(run, server, &operation, &out));
  }
  out.error = result < 0 ? (int32_t)result : 0;
  source_send(socket, &out, sizeof out, reply);
}

static _Noreturn void serve(struct run *run, int socket) {
  // The runtime is to see when the intermediate and init are gone.
  sys_close(run->socket);
  run->socket = -1;
  run->progress = NULL;
  run->trace = NULL;
  run->init.sources = -1;
  // What it opens belongs to init's mount namespace.
  run->is_init = true;
  struct server server = {-1, -1};
  uint32_t index;
  int descriptor;
  // Each operation asks once, and SOURCE_ENTER comes first.
  for (uint64_t left = (uint64_t)run->plan.op_count + 1; left > 0; left--) {
    if (source_receive(socket, &index, sizeof index, &descriptor) < 0) break;
    answer(run, &server, socket, index, descriptor);
  }
  sys_exit(0);
}

long op_source_serve(struct run *run, const struct op_source_serve *op) {
  (void)op;
  int pair[2];
  long error = sys(__NR_socketpair, AF_UNIX_, SOCK_SEQPACKET_ | SOCK_CLOEXEC_, 0, pair);
  if (error < 0) return fail(run, error, NULL, "socketpair");
  long pid = sys(__NR_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    sys_close(pair[0]);
    serve(run, pair[1]);
  }
  sys_close(pair[1]);
  if (pid < 0) {
    sys_close(pair[0]);
    return fail(run, pid, NULL, "clone");
  }
  run->init.sources = pair[0];
  run->intermediate.source_server = pid;
  return 0;
}
