/* Id-mapped mounts: user namespaces that exist for their maps alone, and mounts that show ids through them. */
#include "mount.h"
#include "source.h"
#include "../shared/sys.h"

/* The kernel takes a map in one write of less than a page (user_namespaces(7)). */
#define MAP_MAX 4096

/* Lives for its user namespace alone, until the other end of the pipe is closed or its owner dies. */
_Noreturn static void linger(const int pipe[2]) {
  char byte;
  sys_close(pipe[1]);
  sys_read(pipe[0], &byte, 1);
  sys_exit(0);
}

static void put_process_path(struct buffer *out, long pid, const char *file) {
  put_u64(out, (uint64_t)pid);
  put_text(out, "/");
  put_text(out, file);
}

static long write_map(struct run *run, int proc, long pid, const char *file, const struct list *map) {
  char path[32], text[MAP_MAX];
  struct buffer name = BUFFER(path), out = BUFFER(text);
  put_process_path(&name, pid, file);
  for (uint32_t i = 0; i < map->count; i++) {
    put_u64(&out, list_u32(map, i));
    put_text(&out, i % 3 == 2 ? "\n" : " ");
  }
  if (out.truncated) return fail(run, -E2BIG, file, "an id map is longer than a page");
  long fd = sys_openat(proc, path, O_WRONLY, 0);
  if (fd < 0) return fail(run, fd, file, "open of an id map");
  long size = sys_write((int)fd, text, out.used);
  sys_close((int)fd);
  return finish(run, size, file, "write of an id map");
}

static long open_namespace(struct run *run, long pid, const struct op_idmap_open *op) {
  int proc = proc_get(run);
  if (proc < 0) return proc;
  long error = write_map(run, proc, pid, "gid_map", &op->gid_map);
  if (error >= 0) error = write_map(run, proc, pid, "uid_map", &op->uid_map);
  if (error < 0) return error;
  char path[32];
  struct buffer out = BUFFER(path);
  put_process_path(&out, pid, "ns/user");
  int fd = sys_openat(proc, path, O_RDONLY, 0);
  return fd < 0 ? fail(run, fd, "ns/user", "open of a user namespace") : slot_put(run, op->slot, fd);
}

long op_idmap_open(struct run *run, const struct op_idmap_open *op) {
  int pipe[2];
  long error = sys(__NR_pipe2, pipe, O_CLOEXEC);
  if (error < 0) return fail(run, error, NULL, "pipe");
  long pid = sys(__NR_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) linger(pipe);
  error = pid < 0 ? fail(run, pid, NULL, "clone of a user namespace for mapped mounts") : open_namespace(run, pid, op);
  sys_close(pipe[0]);
  sys_close(pipe[1]);
  if (pid > 0) wait_child(pid);
  return error;
}

static const char *idmap_reason(long error) {
  switch (error) {
  case -EINVAL: return "mount_setattr: the filesystem cannot be id-mapped on this kernel";
  case -EPERM: return "mount_setattr: no right to map ids of the filesystem, or the user namespace is its own";
  case -ENOSYS: return "mount_setattr: id-mapped mounts need Linux 5.12";
  }
  return "mount_setattr: id map";
}

long op_mount_idmap(struct run *run, const struct op_mount_idmap *op) {
  int fd = slot_get(run, op->slot), user_namespace = slot_get(run, op->user_namespace);
  if (fd < 0 || user_namespace < 0) return -EBADF;
  struct slot *slot = &run->slots[op->slot];
  if (slot->is_link) return 0;
  if (!slot->is_detached) return fail(run, -ENOSYS, slot->source, "open_tree: id-mapped mounts need Linux 5.12");
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)user_namespace};
  unsigned flags = AT_EMPTY_PATH | (op->recursive ? AT_RECURSIVE : 0);
  bool asks = run->is_init && run->init.sources >= 0;
  long error = asks ? source_map(run, fd) : sys(__NR_mount_setattr, fd, "", flags, &attributes, sizeof attributes);
  slot->is_unique = true;
  return finish(run, error, slot->source, idmap_reason(error));
}
