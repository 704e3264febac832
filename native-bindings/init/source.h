/* Sources of binds in a user namespace, opened with the rights of the host in init's mount namespace (source.c). */
#ifndef RUNT_SOURCE_H
#define RUNT_SOURCE_H
#include "run.h"

/* In the place of an operation's index: the descriptor is init's mount namespace. */
#define SOURCE_ENTER UINT32_MAX

struct source_answer {
  int32_t error;
  uint32_t is_detached, is_link, is_foreign;
};

long source_send(int socket, void *bytes, size_t size, int descriptor);
/* Anything but the whole message is the end of the other side: -ECONNRESET. */
long source_receive(int socket, void *bytes, size_t size, int *descriptor);
/* The caller's mount namespace. */
int source_own_mounts(struct run *run);
/* What the operation under way (mount.open, mount.openLink) wants in its slot, where init may not open it. Only while run->init.sources >= 0. */
long source_open(struct run *run, uint32_t slot, const char *path);
/* The operation under way (mount.idmap) on init's detached mount: to map ids takes rights over the file system. */
long source_map(struct run *run, int mount);
/* Init needs no more sources: the process ends. */
void sources_close(struct run *run);
/* Of the intermediate, after the clone: stays until that process has ended. */
void sources_end(struct run *run);
#endif
