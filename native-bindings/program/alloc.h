#ifndef RUNT_PROGRAM_ALLOC_H
#define RUNT_PROGRAM_ALLOC_H
#include <stdbool.h>
#include <stddef.h>

#include <quickjs.h>

extern const JSMallocFunctions host_allocator;
/* Memory at the beginning of the image, for tables that are searched from everywhere. Only while the image is made. */
void *host_allocate_apart(size_t size);
void host_release_apart(void *pointer);
/* Later allocations come from another arena than earlier ones. False: that arena was in use already. */
bool host_seal_arena(void);
/* Bytes of the heap that this process has used at any time, without those of the image. */
size_t host_heap_size(void);

#endif
