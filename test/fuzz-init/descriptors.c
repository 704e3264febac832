/* The table of descriptors, and what a path means here: its last name says what the file is. */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

/* All directories have the same one above them. */
#define PARENT_OBJECT 3

uint32_t object_new(void) { return kernel.next_object++; }

int descriptor_at(int fd, enum kind kind, uint32_t object, bool close_on_exec) {
  struct descriptor *descriptor = &kernel.descriptors[fd];
  *descriptor = (struct descriptor){.is_open = true, .close_on_exec = close_on_exec, .kind = (uint8_t)kind, .object = object};
  descriptor->is_exempt = kernel.operation == OPERATION_JOIN;
  if (fd >= kernel.used) kernel.used = fd + 1;
  return fd;
}

int descriptor_new(enum kind kind, uint32_t object, bool close_on_exec) {
  for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
    if (!kernel.descriptors[fd].is_open) return descriptor_at(fd, kind, object, close_on_exec);
  return -EMFILE;
}

struct descriptor *descriptor_get(long fd) {
  if ((int)fd < 0) return NULL;
  if (fd < DESCRIPTORS_MAX && kernel.descriptors[fd].is_open) return &kernel.descriptors[fd];
  // Arguments can name anything; what a plan's operations use they have opened. Stdio may be closed from the start.
  if (kernel.input->mode == MODE_PLAN && fd > 2) finding("use of a descriptor that is not open", fd);
  return NULL;
}

long descriptor_close(long fd) {
  struct descriptor *descriptor = descriptor_get(fd);
  if (descriptor == NULL) return -EBADF;
  // What the caller gave as stdio is the program's.
  if (descriptor->is_given && kernel.input->mode == MODE_PLAN) finding("stdio is closed", fd);
  descriptor->is_open = false;
  return 0;
}

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

bool is_link_name(const char *path) { return strncmp(last_name(path), "link", 4) == 0; }

static enum kind kind_of(long directory, const char *path, uint64_t flags) {
  const char *name = last_name(path);
  const struct descriptor *above = directory < 0 ? NULL : descriptor_get(directory);
  if (strcmp(path, "/proc") == 0) return KIND_PROC;
  if (strcmp(name, "null") == 0) return KIND_NULL;
  if (strcmp(name, "ptmx") == 0) return KIND_PTMX;
  if (strcmp(name, "passwd") == 0) return KIND_PASSWD;
  if (strcmp(name, "mountinfo") == 0) return KIND_MOUNTINFO;
  if (strcmp(name, "stat") == 0) return KIND_STAT;
  if (strstr(path, "ns/") != NULL) return KIND_NAMESPACE;
  if ((flags & O_NOFOLLOW) != 0 && is_link_name(path)) return KIND_LINK;
  if (above != NULL && (above->kind == KIND_PROC || above->kind == KIND_PROC_FILE)) return KIND_PROC_FILE;
  if ((flags & (O_WRONLY | O_RDWR)) != 0 || strncmp(name, "file", 4) == 0 || strncmp(name, "k", 1) == 0) return KIND_FILE;
  return KIND_DIRECTORY;
}

static uint32_t object_of(const struct descriptor *above, const char *path) {
  if (strcmp(path, "..") == 0) return PARENT_OBJECT;
  bool stays = strcmp(path, "/") == 0 || strcmp(path, ".") == 0 || path[0] == 0;
  return !stays ? object_new() : above != NULL ? above->object : kernel.root_object;
}

int descriptor_open(long directory, const char *path, uint64_t flags) {
  const struct descriptor *above = (int)directory < 0 ? NULL : descriptor_get(directory);
  if (above == NULL && directory != AT_FDCWD && path[0] != '/') return -EBADF;
  // A fifo, a name that is not there, and a directory where a file is wanted: what the names of seeds say.
  if (strncmp(last_name(path), "absent", 6) == 0) return -ENOENT;
  enum kind kind = kind_of(above == NULL ? -1 : directory, path, flags);
  if (kind == KIND_LINK && (flags & O_PATH) == 0) return -ELOOP;
  int fd = descriptor_new(kind, object_of(above, path), (flags & O_CLOEXEC) != 0);
  if (fd < 0 || kernel.bound_object == 0 || strcmp(path, "/") == 0) return fd;
  kernel.descriptors[fd].object = kernel.bound_object;
  kernel.descriptors[fd].mount = object_new();
  kernel.bound_object = 0;
  return fd;
}

void descriptor_bind(const char *source) {
  static const char prefix[] = "self/fd/";
  const struct descriptor *bound = strncmp(source, prefix, sizeof prefix - 1) == 0 ? descriptor_get(atoi(source + sizeof prefix - 1)) : NULL;
  kernel.bound_object = bound == NULL ? 0 : bound->object;
}
