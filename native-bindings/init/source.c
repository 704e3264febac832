/*
 * Sources of binds in a user namespace. Init opens them itself, in its own mount namespace: there are the mounts that it has made so far, and
 * there the kernel has locked the flags of the host's. Where it may not go it asks a process that the intermediate has left behind (source_serve.c).
 */
#include "source.h"

#include "socket.h"
#include "../shared/sys.h"

long source_send(int socket, void *bytes, size_t size, int descriptor) {
  return socket_send(socket, &(struct iovec){bytes, size}, 1, descriptor, 0);
}

long source_receive(int socket, void *bytes, size_t size, int *descriptor) {
  return socket_receive(socket, bytes, size, descriptor) == (long)size ? 0 : -ECONNRESET;
}

int source_own_mounts(struct run *run) {
  int proc = proc_get(run);
  return proc < 0 ? proc : sys_openat(proc, "self/ns/mnt", O_RDONLY, 0);
}

void sources_close(struct run *run) {
  if (run->init.sources >= 0) sys_close(run->init.sources);
  run->init.sources = -1;
}

void sources_end(struct run *run) {
  if (run->init.sources < 0) return;
  sources_close(run);
  wait_child(run->intermediate.source_server);
}

static long ask(struct run *run, uint32_t index, int sent, struct source_answer *out, int *got) {
  long error = source_send(run->init.sources, &index, sizeof index, sent);
  if (error >= 0) error = source_receive(run->init.sources, out, sizeof *out, got);
  return error < 0 ? error : out->error;
}

static long enter(struct run *run) {
  if (run->init.has_entered_sources) return 0;
  struct source_answer out;
  int got = -1, own = source_own_mounts(run);
  if (own < 0) return own;
  long error = ask(run, SOURCE_ENTER, own, &out, &got);
  sys_close(own);
  run->init.has_entered_sources = error >= 0;
  return error;
}

long source_open(struct run *run, uint32_t slot, const char *path) {
  struct source_answer out;
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
  struct source_answer out;
  int got = -1;
  long error = enter(run);
  return error < 0 ? error : ask(run, run->index, mount, &out, &got);
}
