/*
 * A seccomp filter in fewer instructions. libseccomp compares with one system call after another; a profile allows nearly all of them, so neighbours
 * mostly share their answer, and one comparison for each change of the answer is enough. The kernel checks, translates and tries a filter for
 * every system call when it is loaded: that takes as long as the filter is (kernel/seccomp.c, seccomp_prepare_filter and seccomp_cache_prepare).
 *
 * What looks at architecture and number alone is written anew, as a binary search; what looks at arguments is copied. At the end both programs are
 * followed for every architecture and every number: only one that is the same for all of them is handed out.
 */
#include "arguments.h"
#include "function.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS ((uint64_t)1 << 32)
#define ARCHITECTURES_MAX 32
#define SHORT_JUMP 255
#define NOWHERE UINT32_MAX

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define RETURN (BPF_RET | BPF_K)
#define JUMP (BPF_JMP | BPF_JA)
#define JUMP_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define JUMP_ABOVE (BPF_JMP | BPF_JGT | BPF_K)
#define JUMP_AT_LEAST (BPF_JMP | BPF_JGE | BPF_K)

struct program {
    struct sock_filter *code;
    uint32_t length, room;
};

/* From this number to the next piece's: the instruction that answers, or the first one that looks at an argument. */
struct piece {
    uint32_t start, answer;
};

struct compaction {
    struct program old, new;
    /* Those that the filter compares with, after one that it does not. */
    uint32_t architectures[ARCHITECTURES_MAX];
    unsigned architecture_count;
    struct piece *pieces;
    uint32_t piece_count;
    /* Of each old instruction that is copied: where. Of each new one that jumps to such an answer: which. */
    uint32_t *places, *targets;
};

static bool add_architecture(struct compaction *c, uint32_t architecture) {
    for (unsigned i = 0; i < c->architecture_count; i++)
        if (c->architectures[i] == architecture) return true;
    if (c->architecture_count == ARCHITECTURES_MAX) return false;
    c->architectures[c->architecture_count++] = architecture;
    return true;
}

/* Where a call gets to, and the next number that may get elsewhere. False: the program does what this cannot follow. */
static bool follow(struct compaction *c, const struct program *program, uint32_t architecture, uint32_t number, uint32_t *answer, uint64_t *end) {
    enum { NOTHING, ARCHITECTURE, NUMBER } holds = NOTHING;
    *end = NUMBERS;
    /* Jumps lead forward only, so this ends. */
    for (uint64_t at = 0; at < program->length;) {
        const struct sock_filter *instruction = &program->code[at];
        const uint32_t k = instruction->k;
        if (instruction->code == RETURN || (instruction->code == LOAD && k != offsetof(struct seccomp_data, nr) && k != offsetof(struct seccomp_data, arch))) {
            *answer = (uint32_t)at;
            return true;
        }
        if (instruction->code == LOAD) {
            holds = k == offsetof(struct seccomp_data, nr) ? NUMBER : ARCHITECTURE;
            at++;
        } else if (instruction->code == JUMP) {
            at += (uint64_t)k + 1;
        } else if (holds == ARCHITECTURE && instruction->code == JUMP_EQUAL) {
            if (!add_architecture(c, k)) return false;
            at += 1u + (architecture == k ? instruction->jt : instruction->jf);
        } else if (holds == NUMBER && (instruction->code == JUMP_EQUAL || instruction->code == JUMP_ABOVE || instruction->code == JUMP_AT_LEAST)) {
            const bool is_true = instruction->code == JUMP_EQUAL ? number == k : instruction->code == JUMP_ABOVE ? number > k : number >= k;
            /* The comparison changes at k, behind k, or both. */
            const uint64_t behind = (uint64_t)k + 1;
            uint64_t change = NUMBERS;
            if (instruction->code != JUMP_ABOVE && number < k) change = k;
            else if (instruction->code != JUMP_AT_LEAST && number <= k) change = behind;
            if (change < *end) *end = change;
            at += 1u + (is_true ? instruction->jt : instruction->jf);
        } else {
            return false;
        }
    }
    return false;
}

static bool same_answer(const struct program *program, uint32_t one, uint32_t other) {
    const struct sock_filter *a = &program->code[one], *b = &program->code[other];
    return one == other || (a->code == RETURN && b->code == RETURN && a->k == b->k);
}

/* All pieces of one architecture; neighbours answer differently. */
static bool find_pieces(struct compaction *c, uint32_t architecture) {
    c->piece_count = 0;
    for (uint64_t number = 0, end; number < NUMBERS; number = end) {
        uint32_t answer;
        if (!follow(c, &c->old, architecture, (uint32_t)number, &answer, &end)) return false;
        if (c->piece_count > 0 && same_answer(&c->old, c->pieces[c->piece_count - 1].answer, answer)) continue;
        if (c->piece_count == c->old.length) return false;
        c->pieces[c->piece_count++] = (struct piece) { (uint32_t)number, answer };
    }
    return true;
}

static struct sock_filter *emit(struct program *program, uint16_t code, uint32_t k) {
    if (program->length == program->room) return NULL;
    struct sock_filter *instruction = &program->code[program->length++];
    *instruction = (struct sock_filter) { .code = code, .k = k };
    return instruction;
}

/* Instructions of a search from the first to the last of these pieces. */
static bool emit_search(struct compaction *c, uint32_t first, uint32_t last, const uint32_t *answers, uint32_t answers_at) {
    const uint32_t middle = first + (last - first + 1) / 2, here = c->new.length;
    struct sock_filter *instruction = emit(&c->new, JUMP_AT_LEAST, c->pieces[middle].start);
    if (!instruction) return false;
    uint64_t below = here + 1;
    if (middle - 1 == first) below = answers_at + answers[first];
    else if (!emit_search(c, first, middle - 1, answers, answers_at)) return false;
    uint64_t above = c->new.length;
    if (middle == last) above = answers_at + answers[last];
    else if (!emit_search(c, middle, last, answers, answers_at)) return false;
    below -= here + 1;
    above -= here + 1;
    instruction->jf = (uint8_t)below;
    instruction->jt = (uint8_t)above;
    return below <= SHORT_JUMP && above <= SHORT_JUMP;
}

/* An answer: copied, or a jump to where what looks at arguments will be, whose place is not known yet. */
static bool emit_answer(struct compaction *c, uint32_t answer) {
    const struct sock_filter *old = &c->old.code[answer];
    if (old->code == RETURN) return emit(&c->new, RETURN, old->k);
    if (!emit(&c->new, JUMP, 0)) return false;
    c->places[answer] = 0;
    c->targets[c->new.length - 1] = answer;
    return true;
}

/* The search, and behind it every answer once. */
static bool emit_architecture(struct compaction *c) {
    if (c->piece_count == 1) return emit_answer(c, c->pieces[0].answer);
    uint32_t *answers = malloc(sizeof(answers[0]) * c->piece_count * 2);
    if (!answers) return false;
    uint32_t *different = answers + c->piece_count, count = 0;
    for (uint32_t i = 0; i < c->piece_count; i++) {
        uint32_t at = 0;
        while (at < count && !same_answer(&c->old, different[at], c->pieces[i].answer)) at++;
        if (at == count) different[count++] = c->pieces[i].answer;
        answers[i] = at;
    }
    bool done = emit(&c->new, LOAD, offsetof(struct seccomp_data, nr)) &&
                emit_search(c, 0, c->piece_count - 1, answers, c->new.length + c->piece_count - 1);
    for (uint32_t i = 0; done && i < count; i++) done = emit_answer(c, different[i]);
    free(answers);
    return done;
}

static bool is_conditional(const struct sock_filter *instruction) {
    return BPF_CLASS(instruction->code) == BPF_JMP && instruction->code != JUMP;
}

static bool want(struct compaction *c, uint64_t at) {
    if (at >= c->old.length) return false;
    if (c->places[at] == NOWHERE) c->places[at] = 0;
    return true;
}

/* Copy what looks at arguments, in its order: what leads forward still does. */
static bool copy_rest(struct compaction *c) {
    const uint32_t searches = c->new.length;
    for (uint64_t at = 0; at < c->old.length; at++) {
        const struct sock_filter *old = &c->old.code[at];
        if (c->places[at] == NOWHERE) continue;
        c->places[at] = c->new.length;
        if (!emit(&c->new, old->code, old->k)) return false;
        if (BPF_CLASS(old->code) == BPF_RET) continue;
        if (is_conditional(old) ? !want(c, at + 1 + old->jt) || !want(c, at + 1 + old->jf) : !want(c, at + 1 + (old->code == JUMP ? old->k : 0)))
            return false;
    }
    for (uint32_t at = 0; at < searches; at++)
        if (c->targets[at] != NOWHERE) c->new.code[at].k = c->places[c->targets[at]] - at - 1;
    for (uint64_t at = 0; at < c->old.length; at++) {
        const struct sock_filter *old = &c->old.code[at];
        if (c->places[at] == NOWHERE) continue;
        const uint32_t here = c->places[at] + 1;
        struct sock_filter *new = &c->new.code[c->places[at]];
        if (old->code == JUMP) new->k = c->places[at + 1 + old->k] - here;
        if (!is_conditional(old)) continue;
        const uint32_t if_true = c->places[at + 1 + old->jt] - here, if_false = c->places[at + 1 + old->jf] - here;
        if (if_true > SHORT_JUMP || if_false > SHORT_JUMP) return false;
        new->jt = (uint8_t)if_true;
        new->jf = (uint8_t)if_false;
    }
    return true;
}

/* The search for the architecture, with what belongs to each behind its comparison, and at the end what the filter says to others. */
static bool write_program(struct compaction *c) {
    if (!emit(&c->new, LOAD, offsetof(struct seccomp_data, arch))) return false;
    /* Following the program finds more of them. */
    if (!find_pieces(c, c->architectures[0])) return false;
    for (unsigned i = 1; i < c->architecture_count; i++) {
        if (!find_pieces(c, c->architectures[i])) return false;
        struct sock_filter *comparison = emit(&c->new, JUMP_EQUAL, c->architectures[i]);
        const uint32_t begin = c->new.length;
        if (!comparison || !emit_architecture(c) || c->new.length - begin > SHORT_JUMP) return false;
        comparison->jf = (uint8_t)(c->new.length - begin);
    }
    return find_pieces(c, c->architectures[0]) && emit_architecture(c) && copy_rest(c);
}

static bool is_same(struct compaction *c) {
    const unsigned count = c->architecture_count;
    for (unsigned i = 0; i < count; i++) {
        for (uint64_t number = 0, end_old, end_new; number < NUMBERS; number = end_old < end_new ? end_old : end_new) {
            uint32_t old, new;
            if (!follow(c, &c->old, c->architectures[i], (uint32_t)number, &old, &end_old) ||
                !follow(c, &c->new, c->architectures[i], (uint32_t)number, &new, &end_new))
                return false;
            const struct sock_filter *answer = &c->old.code[old];
            if (answer->code == RETURN ? c->new.code[new].code != RETURN || c->new.code[new].k != answer->k : new != c->places[old]) return false;
        }
    }
    return c->architecture_count == count;
}

/* One that the program does not compare with. */
static uint32_t other_architecture(const struct program *program) {
    uint32_t other = 0, at = 0;
    while (at < program->length) {
        if (program->code[at++].k != other) continue;
        other++;
        at = 0;
    }
    return other;
}

static bool compact(struct compaction *c) {
    c->architectures[c->architecture_count++] = other_architecture(&c->old);
    memset(c->places, 0xff, sizeof(c->places[0]) * c->old.length);
    memset(c->targets, 0xff, sizeof(c->targets[0]) * c->old.length);
    return write_program(c) && is_same(c);
}

HOST_FUNCTION(host_compact_filter) {
    size_t size;
    uint8_t *data = JS_GetArrayBuffer(ctx, &size, host_arg(argc, argv, 0));
    if (!data) return JS_EXCEPTION;
    const size_t length = size / sizeof(struct sock_filter);
    if (length == 0 || length > BPF_MAXINSNS || size % sizeof(struct sock_filter) != 0) return JS_ThrowTypeError(ctx, "no BPF program");
    uint32_t *numbers = malloc(length * (2 * sizeof(uint32_t) + sizeof(struct piece)));
    struct sock_filter *code = malloc(length * 2 * sizeof(*code));
    struct compaction compaction = {
        .old = { .code = code, .length = (uint32_t)length },
        .new = { .code = code + length, .room = (uint32_t)length },
        .places = numbers,
        .targets = numbers + length,
        .pieces = (struct piece *)(numbers + 2 * length),
    };
    JSValue result = JS_EXCEPTION;
    if (!numbers || !code) {
        JS_ThrowOutOfMemory(ctx);
    } else {
        memcpy(code, data, size);
        const struct program *program = compact(&compaction) ? &compaction.new : &compaction.old;
        result = JS_NewArrayBufferCopy(ctx, (const uint8_t *)program->code, program->length * sizeof(program->code[0]));
    }
    free(code);
    free(numbers);
    return result;
}
