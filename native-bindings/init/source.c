/*
 * Sources of binds in a user namespace. Init opens them itself, in its own mount namespace: there are the mounts that it has made so far, and
 * there the kernel has locked the flags of the host's. Where it may not go it asks a process that the intermediate has left behind: in the same mount
 * namespace, with the rights of the host. The process ends when init enters its root, or ends.
 */
#include "source.h"

#include "mount.h"
#include "run.h"
#include "socket.h"
#include "../shared/sys.h"

/* In the place of an operation's index: the descriptor is init's mount namespace. */
#define ENTER UINT32_MAX

struct answer {
  int32_t error;
  uint32_t is_detached, is_link, is_foreign;
};

static long send_to(int socket, void *bytes, size_t size, int descriptor) {
  return socket_send(socket, &(struct iovec){bytes, size}, 1, descriptor, 0);
}

/* Anything but the whole message is the end of the other side: -ECONNRESET. */
static long receive_from(int socket, void *bytes, size_t size, int *descriptor) {
  return socket_receive(socket, bytes, size, descriptor) == (long)size ? 0 : -ECONNRESET;
}

/* The caller's mount namespace. */
static int open_own(struct run *run) {
  int proc = proc_get(run);
  return proc < 0 ? proc : sys_openat(proc, "self/ns/mnt", O_RDONLY, 0);
}

/* ---- the process that is left behind */

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

static long answer_open(struct run *run, const struct server *server, const struct operation *operation, struct answer *answer) {
  uint32_t slot;
  bool recursive;
  long error = open_operation(run, operation, &slot, &recursive);
  if (error == -EINVAL && !recursive) error = open_on_host(run, server, operation);
  if (error < 0) return error;
  const struct slot *opened = &run->slots[slot];
  *answer = (struct answer){0, opened->is_detached, opened->is_link, opened->is_foreign};
  return opened->fd;
}

static long answer_map(struct run *run, const struct op_mount_idmap *op, int mount) {
  long error = slot_fill(run, op->slot, &(struct slot){.fd = mount, .is_detached = true});
  return error < 0 ? error : op_mount_idmap(run, op);
}

static void answer(struct run *run, struct server *server, int socket, uint32_t index, int descriptor) {
  struct answer out = {0};
  struct operation operation;
  long result = -EPROTO;
  int reply = -1;
  if (index == ENTER) {
    server->own = open_own(run);
    server->entered = descriptor;
    result = server->own < 0 ? server->own : sys(__NR_setns, descriptor, CLONE_NEWNS);
  } else if (find(run, index, &operation)) {
    if (operation.number == OP_mount_idmap && descriptor >= 0) result = answer_map(run, &operation.arguments.mount_idmap, descriptor);
    else if (operation.number == OP_mount_open || operation.number == OP_mount_open_link)
      reply = (int)(result = answer_open(run, server, &operation, &out));
  }
  out.error = result < 0 ? (int32_t)result : 0;
  send_to(socket, &out, sizeof out, reply);
}

static _Noreturn void serve(struct run *run, int socket) {
  // The runtime is to see when the intermediate and init are gone.
  sys_close(run->socket);
  run->socket = -1;
  run->progress = NULL;
  run->trace = NULL;
  run->sources = -1;
  // What it opens belongs to init's mount namespace.
  run->is_init = true;
  struct server server = {-1, -1};
  uint32_t index;
  int descriptor;
  // Each operation asks once, and ENTER comes first.
  for (uint64_t left = (uint64_t)run->plan.op_count + 1; left > 0; left--) {
    if (receive_from(socket, &index, sizeof index, &descriptor) < 0) break;
    answer(run, &server, socket, index, descriptor);
  }
  sys_exit(0);
}

/* ---- the intermediate and init */

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
  run->sources = pair[0];
  run->source_server = pid;
  return 0;
}

void sources_close(struct run *run) {
  if (run->sources >= 0) sys_close(run->sources);
  run->sources = -1;
}

void sources_end(struct run *run) {
  if (run->sources < 0) return;
  sources_close(run);
  wait_child(run->source_server);
}

static long ask(struct run *run, uint32_t index, int sent, struct answer *out, int *got) {
  long error = send_to(run->sources, &index, sizeof index, sent);
  if (error >= 0) error = receive_from(run->sources, out, sizeof *out, got);
  return error < 0 ? error : out->error;
}

static long enter(struct run *run) {
  if (run->has_entered_sources) return 0;
  struct answer out;
  int got = -1, own = open_own(run);
  if (own < 0) return own;
  long error = ask(run, ENTER, own, &out, &got);
  sys_close(own);
  run->has_entered_sources = error >= 0;
  return error;
}

long source_open(struct run *run, uint32_t slot, const char *path) {
  struct answer out;
  int fd = -1;
  long error = enter(run);
  if (error >= 0) error = ask(run, run->index, -1, &out, &fd);
  if (error >= 0 && fd < 0) error = -EPROTO;
  if (error < 0) return fail(run, error, path, "open_tree");
  const struct slot opened = {
      .fd = fd,
      .source = path,
      .is_detached = out.is_detached != 0,
      .is_link = out.is_link != 0,
      .is_foreign = out.is_foreign != 0,
      // There is no second way for a path that init may not walk.
      .is_unique = true,
  };
  return slot_fill(run, slot, &opened);
}

long source_map(struct run *run, int mount) {
  struct answer out;
  int got = -1;
  long error = enter(run);
  return error < 0 ? error : ask(run, run->index, mount, &out, &got);
}
