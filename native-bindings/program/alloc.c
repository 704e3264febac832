/*
 * The allocator of the JavaScript heap: size classes over a bump pointer.
 *
 * The heap of one verb is 1-3 MB and the process ends soon, so memory never goes back to the kernel; freed blocks are
 * kept in a list per class. The first arena is part of the image of the started engine (image.c).
 */
#include "alloc.h"

#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 16u
#define HEADER 16u /* keeps the payload aligned to 16; holds the payload's capacity */
#define SMALL_LIMIT 512u
#define SMALL_CLASSES (SMALL_LIMIT / ALIGNMENT + 1)
#ifndef FIRST_ARENA
#define FIRST_ARENA ((size_t)22 << 18)
#endif
/* Room at its beginning for host_allocate_apart. */
#ifndef APART
#define APART ((size_t)512 << 10)
#endif
/* Below the size of a huge page: zeroing one of those costs more than all the small pages a run touches. */
#define NEXT_ARENA ((size_t)1 << 20)
/* Classes above SMALL_LIMIT grow by quarters of a power of two up to 2^47. */
#define LARGE_CLASSES (4u * 39u)

struct block {
    size_t capacity;
    size_t unused;
};
struct free_block {
    struct free_block *next;
};

_Static_assert(sizeof(struct block) == HEADER, "the header must keep the alignment");

static uint8_t first_arena[FIRST_ARENA] __attribute__((aligned(4096)));
static uint8_t *apart = first_arena;
static uint8_t *bump = first_arena + APART;
static uint8_t *bump_end = first_arena + FIRST_ARENA;
static bool apart_is_full;
/* By capacity, as small_free; none is of the first. */
static struct free_block *apart_free[SMALL_CLASSES];
/* Arenas of this process, without those of the image. */
static uint8_t *arena_start = first_arena;
static size_t used_before;
static struct free_block *small_free[SMALL_CLASSES];
static struct free_block *large_free[LARGE_CLASSES];

static struct block *block_of(const void *pointer) { return (struct block *)((uintptr_t)pointer - HEADER); }

/* Round a size above SMALL_LIMIT up to its class; the class number goes to *index. */
static size_t large_capacity(size_t size, unsigned *index) {
    unsigned top = 63u - (unsigned)__builtin_clzll(size - 1);
    size_t step = (size_t)1 << (top - 2);
    size_t capacity = (size + step - 1) & ~(step - 1);
    unsigned quarter = (unsigned)((capacity - ((size_t)1 << top)) / step);
    *index = (top - 9) * 4 + quarter - 1;
    return capacity;
}

size_t host_heap_size(void) { return used_before + (size_t)(bump - arena_start); }

static bool next_arena(size_t needed) {
    size_t length = needed > NEXT_ARENA ? (needed + 4095) & ~(size_t)4095 : NEXT_ARENA;
    uint8_t *arena = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) return false;
    used_before = host_heap_size();
    bump = arena_start = arena;
    bump_end = arena + length;
    return true;
}

/* The free blocks of the image are forgotten: each would cost the copy of a page of the file. */
bool host_seal_arena(void) {
    if (apart_is_full || arena_start != first_arena) return false;
    memset(small_free, 0, sizeof(small_free));
    memset(large_free, 0, sizeof(large_free));
    memset(apart_free, 0, sizeof(apart_free));
    bump = bump_end = arena_start = apart = NULL;
    return true;
}

static void *carve(size_t capacity) {
    size_t needed = capacity + HEADER;
    if (needed > (size_t)(bump_end - bump) && !next_arena(needed)) return NULL;
    struct block *block = (struct block *)bump;
    bump += needed;
    block->capacity = capacity;
    return (uint8_t *)block + HEADER;
}

/* Elsewhere, which host_seal_arena tells, when there is no room at the beginning of the first arena. */
void *host_allocate_apart(size_t size) {
    unsigned index;
    size_t capacity = size > SMALL_LIMIT ? large_capacity(size, &index) : (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct free_block **list = &apart_free[capacity <= SMALL_LIMIT ? capacity / ALIGNMENT : 0];
    struct free_block *found = *list;
    if (found) {
        *list = found->next;
        return found;
    }
    size_t needed = capacity + HEADER;
    apart_is_full = apart_is_full || needed > (size_t)(first_arena + APART - apart);
    if (apart_is_full) return carve(capacity);
    struct block *block = (struct block *)apart;
    apart += needed;
    block->capacity = capacity;
    return (uint8_t *)block + HEADER;
}

/* Large blocks are not reused: there are few. */
void host_release_apart(void *pointer) {
    size_t capacity = block_of(pointer)->capacity;
    if (capacity > SMALL_LIMIT) return;
    struct free_block *freed = pointer, **list = &apart_free[capacity / ALIGNMENT];
    freed->next = *list;
    *list = freed;
}

static void *allocate(size_t size) {
    if (size <= SMALL_LIMIT) {
        size_t capacity = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
        if (capacity == 0) capacity = ALIGNMENT;
        struct free_block **list = &small_free[capacity / ALIGNMENT];
        struct free_block *found = *list;
        if (found) {
            *list = found->next;
            return found;
        }
        return carve(capacity);
    }
    if (size > (size_t)1 << 46) return NULL;
    unsigned index;
    size_t capacity = large_capacity(size, &index);
    struct free_block *found = large_free[index];
    if (found) {
        large_free[index] = found->next;
        return found;
    }
    return carve(capacity);
}

static void release(void *pointer) {
    size_t capacity = block_of(pointer)->capacity;
    struct free_block *freed = pointer;
    if (capacity <= SMALL_LIMIT) {
        freed->next = small_free[capacity / ALIGNMENT];
        small_free[capacity / ALIGNMENT] = freed;
    } else {
        unsigned index;
        large_capacity(capacity, &index);
        freed->next = large_free[index];
        large_free[index] = freed;
    }
}

static void *js_allocate(JSMallocState *state, size_t size) {
    (void)state;
    return allocate(size);
}

static void js_release(JSMallocState *state, void *pointer) {
    (void)state;
    if (pointer) release(pointer);
}

static void *js_reallocate(JSMallocState *state, void *pointer, size_t size) {
    (void)state;
    if (!pointer) return size ? allocate(size) : NULL;
    if (!size) {
        release(pointer);
        return NULL;
    }
    struct block *block = block_of(pointer);
    size_t old = block->capacity;
    if (size <= old) return pointer;
    void *moved = allocate(size);
    if (!moved) return NULL;
    memcpy(moved, pointer, old);
    release(pointer);
    return moved;
}

static size_t js_usable_size(const void *pointer) { return pointer ? block_of(pointer)->capacity : 0; }

const JSMallocFunctions host_allocator = { js_allocate, js_release, js_reallocate, js_usable_size };
