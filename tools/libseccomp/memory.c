/*
 * Memory of libseccomp, a unit of its archive (tools/libseccomp-compile.sh renames its calls of malloc and its kin): pieces one behind the other.
 * A process compiles one filter and ends; pages come by the block, not in one fault each. Small pieces that were freed are kept by their size:
 * there are a dozen sizes, and of what a filter takes most is freed before it is done.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT sizeof(uint64_t)
#define BLOCK ((size_t)32 << 10)
#define SMALL_LIMIT ((size_t)256)

struct block {
    struct block *before;
    size_t size;
};

static struct block *last_block;
/* What is left of it. */
static struct { char *at, *end; } left;
/* Small pieces by size, in units of ALIGNMENT. Each begins with the address of the next one. */
static void *freed[SMALL_LIMIT / ALIGNMENT + 1];

static size_t *size_of(void *piece) {
    return (size_t *)piece - 1;
}

/* A piece has room for an address. */
static size_t rounded(size_t size) {
    return size ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

static void *take_freed(size_t size) {
    void **list = &freed[size / ALIGNMENT], *piece = *list;
    if (!piece) return NULL;
    memcpy(list, piece, sizeof(*list));
    return memset(piece, 0, size);
}

static bool next_block(size_t needed) {
    size_t size = needed + sizeof(struct block) > BLOCK ? needed + sizeof(struct block) : BLOCK;
    struct block *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (block == MAP_FAILED) return false;
    *block = (struct block){ last_block, size };
    last_block = block;
    left.at = (char *)(block + 1);
    left.end = (char *)block + size;
    return true;
}

/* Zeroed. */
void *piece_malloc(size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    size = rounded(size);
    void *piece = size <= SMALL_LIMIT ? take_freed(size) : NULL;
    if (piece) return piece;
    size_t needed = size + sizeof(size_t);
    if (needed > (size_t)(left.end - left.at) && !next_block(needed)) return NULL;
    piece = left.at + sizeof(size_t);
    *size_of(piece) = size;
    left.at += needed;
    return piece;
}

void *piece_calloc(size_t count, size_t size) {
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : piece_malloc(bytes);
}

/* The last piece grows in place: libseccomp appends to a program instruction by instruction. */
void *piece_realloc(void *piece, size_t size) {
    if (!piece) return piece_malloc(size);
    size_t *held = size_of(piece);
    if (size <= *held) return piece;
    if (size > SIZE_MAX / 2) return NULL;
    size_t more = rounded(size - *held);
    if ((char *)piece + *held == left.at && more <= (size_t)(left.end - left.at)) {
        left.at += more;
        *held += more;
        return piece;
    }
    void *grown = piece_malloc(size);
    return grown ? memcpy(grown, piece, *held) : NULL;
}

/* Of the large ones only the last can be had again. */
void piece_free(void *piece) {
    if (!piece) return;
    size_t size = *size_of(piece);
    if (size <= SMALL_LIMIT) {
        void **list = &freed[size / ALIGNMENT];
        memcpy(piece, list, sizeof(*list));
        *list = piece;
    } else if ((char *)piece + size == left.at) {
        left.at = (char *)size_of(piece);
        memset(left.at, 0, sizeof(size_t) + size);
    }
}

/* All pieces at once: taking a filter apart costs a millisecond. The library keeps none beyond its filters. */
void piece_release_all(void) {
    while (last_block) {
        struct block *block = last_block;
        last_block = block->before;
        munmap(block, block->size);
    }
    left.at = left.end = NULL;
    memset(freed, 0, sizeof(freed));
}
