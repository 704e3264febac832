/*
 * Memory of libseccomp, a unit of its archive (tools/libseccomp-compile.sh renames its calls of malloc and its kin): pieces one behind the other,
 * of which only the last is taken back. A process compiles one filter and ends; nothing is looked for, and pages come by the block, not in one fault each.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT sizeof(uint64_t)
#define BLOCK ((size_t)32 << 10)

/* What is left of the block in use. */
static struct { char *at, *end; } left;

static size_t *size_of(void *piece) {
    return (size_t *)piece - 1;
}

static size_t rounded(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Zeroed, as the kernel gives it. */
void *piece_malloc(size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    size = rounded(size);
    size_t needed = size + sizeof(size_t);
    if (needed > (size_t)(left.end - left.at)) {
        size_t block = needed > BLOCK ? needed : BLOCK;
        char *fresh = mmap(NULL, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (fresh == MAP_FAILED) return NULL;
        left.at = fresh;
        left.end = fresh + block;
    }
    void *piece = left.at + sizeof(size_t);
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

/* The last piece can be had again, and so the one before it. */
void piece_free(void *piece) {
    if (!piece || (char *)piece + *size_of(piece) != left.at) return;
    left.at = (char *)size_of(piece);
    memset(left.at, 0, sizeof(size_t) + *size_of(piece));
}
