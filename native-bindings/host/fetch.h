#ifndef RUNT_HOST_FETCH_H
#define RUNT_HOST_FETCH_H
#include <stdbool.h>
#include <stddef.h>

/* A child is about to be made that reads mountinfo; or could not be. */
void host_expect_mounts(bool is_coming);
/* By that child, with raw calls alone. */
void host_fetch_mounts(void);
/* Whether the file of this path has been read whole; waits for a child that is about to. */
bool host_has_fetched(const char *path, const char **text, size_t *length);

#endif
