/* The only door to paths inside the root filesystem, which is hostile: descriptor in, descriptor out.
 *
 * Symlinks are resolved as if the root were /, `..` never leaves it, magic links are refused. openat2(2) does the work;
 * where it is missing or refused, and where something has to be made on the way, inroot_walk.c goes one component at a time.
 * Every function returns an O_PATH descriptor or a negative errno. */
#ifndef RUNT_INROOT_H
#define RUNT_INROOT_H
#include <stdbool.h>

enum {
  /* No symlink in any component: -ELOOP. */
  INROOT_NO_LINKS = 1,
  /* The last component is not followed: the descriptor is that of the link. */
  INROOT_NO_FOLLOW = 2,
};

enum inroot_make { INROOT_EXISTING, INROOT_DIRECTORY, INROOT_FILE };

int inroot_open(int root, const char *path, unsigned how);
/* INROOT_NEW: a directory that this very call has made, whatever else is there. INROOT_MISSING: nothing was there, and the walk has made it. */
enum inroot_origin { INROOT_FOUND, INROOT_MISSING, INROOT_NEW };
/* As inroot_open; what is missing is made: directories of `mode` on the way, the last component as `make` says. */
int inroot_make(int root, const char *path, unsigned how, enum inroot_make make, unsigned mode, enum inroot_origin *origin);
/* inroot_make keeps the directory in which it made one, for the next beside it. To be called before something is mounted where that, or what is
 * above it, may be covered. */
void inroot_forget(void);
/* The directory of the path (made if missing, 0755) and its last component, which is not looked at. -EINVAL if that is not a name. */
int inroot_parent(int root, const char *path, unsigned how, const char **name);

/* Opens a path strictly below a directory: no links, no `..`, no other mount. For /proc/sys. */
int beneath_open(int directory, const char *path, unsigned flags);

/* The component-wise walk (inroot_walk.c). */
int inroot_walk(int root, const char *path, unsigned how, enum inroot_make make, unsigned mode);
#endif
