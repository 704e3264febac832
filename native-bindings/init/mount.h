/* Mounts by descriptor, with mount(2) behind them for kernels and sandboxes that refuse the newer calls. */
#ifndef RUNT_MOUNT_H
#define RUNT_MOUNT_H
#include "run.h"

struct attributes {
  uint64_t set, clear, recursive_set, recursive_clear;
  const struct list *propagation;
  /* Cleared too, unless it is locked. */
  uint64_t drop;
};
#define ATTRIBUTES(op) \
  { (op)->attr_set, (op)->attr_clear, (op)->recursive_set, (op)->recursive_clear, &(op)->propagation, 0 }

/* mount_setattr(2) on a mount's own descriptor; `flags` may have AT_RECURSIVE. */
long mount_setattr(int fd, unsigned flags, uint64_t set, uint64_t clear, uint64_t propagation);
/* The same for one attached mount, by remounting where mount_setattr is refused or does not know an attribute yet. */
long mount_change(struct run *run, int fd, uint64_t set, uint64_t clear);
/* One MS_SHARED, MS_SLAVE, MS_PRIVATE or MS_UNBINDABLE, with or without MS_REC, on an attached mount. */
long mount_propagate(struct run *run, int fd, uint32_t flags);
/* Makes a whole tree read-only, on Linux 5.12: -ENOSYS or -EPERM where that cannot be done. */
long mount_protect_tree(int fd);
/* Attributes and propagation of a mount that is attached already. */
long mount_apply(struct run *run, int fd, const char *path, const struct attributes *attributes);
/* Gives a detached mount its attributes, attaches it onto `target`, and sets its propagation. After a failure that is a refusal
 * an older way may be tried, unless `decided`: the mount is there, or the kernel has said no to what was asked. */
long mount_attach(struct run *run, int fd, int target, const char *path, const struct attributes *attributes, bool *decided);
long mount_move(int fd, int target);
/* A detached clone of the mount (or the part of it) behind a descriptor. */
int mount_clone(int fd, bool recursive);
/* True if mount_setattr itself is missing or refused, and not only what was asked of it. */
bool mount_setattr_refused(int fd, long error);

/* mount(2) onto what a descriptor refers to. */
long mount_old(struct run *run, const char *source, int target, const char *type, unsigned long flags, const char *data);
/* mount(2) of what one descriptor refers to onto another. */
long mount_old_bind(struct run *run, int source, int target, bool recursive);

/* Reads all mounts into run->init.mount_table (mount_table.c). */
long mount_table_read(struct run *run);
/* Whether the mount of a descriptor was there when the table was read; true where it is not known. */
bool mount_table_has(struct run *run, int fd);
/* True if both are the same file of the same mount. */
bool mount_same(struct run *run, int a, int b);

/* Opens what mount(2) has mounted at a path since mount_table_read: a mount of `source`. Somebody may have moved something else there
 * meanwhile, even an older mount of the same: -ESTALE. */
int mount_reopen(struct run *run, const char *path, unsigned how, int source);

/* chmod of what an O_PATH descriptor refers to; fchmod(2) takes none (device.c). */
long change_mode(struct run *run, int fd, unsigned mode);

/* How the path of a device or a link is resolved. Behind a /dev that only a symlink leads to there may be a volume, the host's /dev even:
 * nothing is made in it. */
unsigned device_how(const char *path);

/* As struct stat and mknod(2) have it: include/linux/kdev_t.h, new_encode_dev. */
uint32_t device_number(uint32_t major, uint32_t minor);

/* MOUNT_ATTR_* in terms of mount(2). */
unsigned long mount_flags(uint64_t attributes);

/* The place to mount on; never the root itself, and never inside a procfs that only a symlink leads to. `was_missing`: it has just been made. */
int mount_target(struct run *run, const char *path, uint32_t create, bool directory, unsigned how, bool *was_missing);
#endif
