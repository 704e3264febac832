/* Memory that passes between the helper and the kernel. */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#define MAPPED_MAX (48u * 1024 * 1024)
/* A table of this size is mostly never touched, and the sanitizer's allocator would pay for all of it: it has a page without rights behind it. */
#define ARENA_SIZE (16u * 1024 * 1024)

/* libc's: its headers and the kernel's do not go together. */
void *mmap(void *at, size_t size, int protection, int flags, int fd, long offset);
int madvise(void *at, size_t size, int advice);

static uint8_t *arena;
static bool arena_is_taken;

static long take_arena(void) {
  if (arena_is_taken) return -ENOMEM;
  if (arena == NULL) {
    arena = mmap(NULL, ARENA_SIZE + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == (void *)-1) abort();
    // Only the table itself: the page behind it stays without rights.
    arena = mmap(arena, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (arena == (void *)-1) abort();
  }
  arena_is_taken = true;
  return (long)arena;
}

static void leave_arena(void) {
  if (arena_is_taken) madvise(arena, ARENA_SIZE, MADV_DONTNEED);
  arena_is_taken = false;
}

/* The address of the first byte that is not the helper's to touch, or NULL. */
void *__asan_region_is_poisoned(void *at, size_t size);

/* A buffer of this size is looked at by its ends alone. */
#define LOOKED_AT_MAX (1024u * 1024)

static volatile uint8_t sink;

static const uint8_t *first_bad(const void *at, size_t size) {
  return size > LOOKED_AT_MAX ? NULL : __asan_region_is_poisoned((void *)at, size);
}

/* The sanitizer says what is wrong with a bad byte when it is touched. */
void check_readable(const void *at, size_t size) {
  const uint8_t *bytes = at, *bad = size == 0 ? NULL : first_bad(at, size);
  if (bad != NULL) sink = *bad;
  if (size > 0) sink = bytes[0], sink = bytes[size - 1];
}

void check_writable(void *at, size_t size) {
  check_readable(at, size);
  volatile uint8_t *bytes = at;
  if (size > 0) bytes[size - 1] = bytes[size - 1];
}

size_t check_string(const char *text) {
  if (text == NULL) finding("NULL where a string belongs", 0);
  return strlen(text);
}

void check_vector(char *const *vector) {
  if (vector == NULL) finding("NULL where a vector belongs", 0);
  for (; *vector != NULL; vector++) check_string(*vector);
}

long map_memory(size_t size, const uint8_t *content, size_t content_size) {
  if (size == 0) return -EINVAL;
  if (size == ARENA_SIZE && content == NULL) return take_arena();
  if (kernel.mapping_count == MAPPINGS_MAX || size > MAPPED_MAX || kernel.mapped + size > MAPPED_MAX) return -ENOMEM;
  uint8_t *at = content == NULL ? calloc(1, size) : malloc(size);
  if (at == NULL) return -ENOMEM;
  if (content != NULL) memcpy(at, content, content_size);
  kernel.mappings[kernel.mapping_count++] = (struct mapping){at, size};
  kernel.mapped += size;
  return (long)at;
}

long unmap_memory(uint8_t *at, size_t size) {
  if (arena_is_taken && at == arena && size == ARENA_SIZE) {
    leave_arena();
    return 0;
  }
  for (unsigned i = 0; i < kernel.mapping_count; i++) {
    struct mapping *mapping = &kernel.mappings[i];
    if (mapping->at != at) continue;
    if (mapping->size != size) finding("munmap of another length than was mapped", (long)size);
    free(at);
    if (kernel.plan == at) kernel.plan = NULL;
    kernel.mapped -= size;
    *mapping = kernel.mappings[--kernel.mapping_count];
    return 0;
  }
  finding("munmap of what was not mapped", (long)size);
}

void unmap_all(void) {
  for (unsigned i = 0; i < kernel.mapping_count; i++) free(kernel.mappings[i].at);
  kernel.mapping_count = 0;
  leave_arena();
}
