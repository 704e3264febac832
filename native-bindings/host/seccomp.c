/* libseccomp: a canonical profile in, a BPF program out. Which profile that is, is decided in TypeScript. */
#include "seccomp.h"

#include "arguments.h"
#include "error.h"
#include "function.h"

#include <link.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STRINGIFY(x) #x
#define VERSION_TEXT(major, minor, micro) STRINGIFY(major) "." STRINGIFY(minor) "." STRINGIFY(micro)
#define ARCHITECTURES_MAX 32
#define CONDITIONS_MAX 6

const char host_seccomp_version[] = VERSION_TEXT(SCMP_VER_MAJOR, SCMP_VER_MINOR, SCMP_VER_MICRO);

/* The linker places it at the beginning of the file, which is loaded. */
extern const ElfW(Ehdr) __ehdr_start;

/* From tools/libseccomp/memory.c. An unchanged library lacks it: then the filter is not freed, because that takes a millisecond. */
__attribute__((weak)) void piece_release_all(void);

struct compiler {
    JSContext *ctx;
    scmp_filter_ctx filter;
    JSValue unknown;
    uint32_t unknown_count;
    uint32_t architectures[ARCHITECTURES_MAX];
    int64_t highest[ARCHITECTURES_MAX];
    unsigned architecture_count;
};

static JSValue malformed(JSContext *ctx) { return JS_ThrowTypeError(ctx, "malformed seccomp profile"); }

static bool failed(struct compiler *c, int error, const char *call, const char *what) {
    host_throw(c->ctx, -error, call, what);
    return false;
}

/* The next word of a line, ended by one blank; NULL at its end. */
static char *next_word(char **line) {
    if (!*line) return NULL;
    char *word = *line, *end = strchr(word, ' ');
    if (end) *end = 0;
    *line = end ? end + 1 : NULL;
    return word;
}

static bool to_number(char **text, char end, uint64_t *out) {
    char *stop;
    if (**text < '0' || **text > '9') return false;
    errno = 0;
    *out = strtoull(*text, &stop, 10);
    if (errno != 0 || *stop != end) return false;
    *text = end ? stop + 1 : stop;
    return true;
}

static bool word_number(char *word, uint64_t limit, uint64_t *out) { return word && to_number(&word, 0, out) && *out <= limit; }

/* INDEX:OPERATOR:A:B, several with commas between; "-" = none. */
static bool parse_conditions(char *text, struct scmp_arg_cmp *out, unsigned *count) {
    *count = 0;
    if (!text) return false;
    if (strcmp(text, "-") == 0) return true;
    for (;;) {
        uint64_t index, comparison, a, b;
        char *comma = strchr(text, ',');
        if (comma) *comma = 0;
        if (*count == CONDITIONS_MAX || !to_number(&text, ':', &index) || !to_number(&text, ':', &comparison) ||
            !to_number(&text, ':', &a) || !to_number(&text, 0, &b) || index >= CONDITIONS_MAX || comparison == 0 ||
            comparison > SCMP_CMP_MASKED_EQ)
            return false;
        out[(*count)++] = (struct scmp_arg_cmp){ (unsigned)index, (enum scmp_compare)comparison, a, b };
        if (!comma) return true;
        text = comma + 1;
    }
}

static bool track_architecture(struct compiler *c, uint32_t token) {
    for (unsigned i = 0; i < c->architecture_count; i++)
        if (c->architectures[i] == token) return true;
    if (c->architecture_count == ARCHITECTURES_MAX) return false;
    c->architectures[c->architecture_count] = token;
    c->highest[c->architecture_count++] = -1;
    return true;
}

static void note_highest(struct compiler *c, const char *name) {
    for (unsigned i = 0; i < c->architecture_count; i++) {
        int number = seccomp_syscall_resolve_name_arch(c->architectures[i], name);
        if (number > c->highest[i]) c->highest[i] = number;
    }
}

static bool add_rule(struct compiler *c, char *line) {
    uint64_t action;
    struct scmp_arg_cmp conditions[CONDITIONS_MAX];
    unsigned count;
    if (!word_number(next_word(&line), UINT32_MAX, &action) || !parse_conditions(next_word(&line), conditions, &count)) {
        malformed(c->ctx);
        return false;
    }
    for (char *name = next_word(&line); name; name = next_word(&line)) {
        int number = seccomp_syscall_resolve_name(name);
        if (number == __NR_SCMP_ERROR) {
            JS_DefinePropertyValueUint32(c->ctx, c->unknown, c->unknown_count++, JS_NewString(c->ctx, name), JS_PROP_C_W_E);
            continue;
        }
        note_highest(c, name);
        int error = seccomp_rule_add_array(c->filter, (uint32_t)action, number, count, conditions);
        if (error < 0) return failed(c, error, "seccomp_rule_add", name);
    }
    return true;
}

/* "default" comes first and once, then "arch", then "optimize", then "rule" lines. */
static bool add_line(struct compiler *c, char *line) {
    char *keyword = next_word(&line);
    uint64_t value;
    if (strcmp(keyword, "rule") == 0 && c->filter) return add_rule(c, line);
    /* Names that are listed but change nothing count as known to the profile. */
    if (strcmp(keyword, "known") == 0 && c->filter) {
        for (char *name = next_word(&line); name; name = next_word(&line)) note_highest(c, name);
        return true;
    }
    if (!word_number(next_word(&line), UINT32_MAX, &value) || line) goto bad;
    if (strcmp(keyword, "default") == 0 && !c->filter) {
        c->filter = seccomp_init((uint32_t)value);
        if (!c->filter) return failed(c, -EINVAL, "seccomp_init", NULL);
        return track_architecture(c, seccomp_arch_native()) || failed(c, -E2BIG, "seccomp_arch_add", NULL);
    }
    if (strcmp(keyword, "arch") == 0 && c->filter) {
        int error = seccomp_arch_add(c->filter, (uint32_t)value);
        if (error == -EEXIST) return true;
        if (error == 0 && !track_architecture(c, (uint32_t)value)) error = -E2BIG;
        char token[24];
        snprintf(token, sizeof(token), "%u", (unsigned)value);
        return error == 0 || failed(c, error, "seccomp_arch_add", token);
    }
    if (strcmp(keyword, "optimize") == 0 && c->filter) {
        int error = seccomp_attr_set(c->filter, SCMP_FLTATR_CTL_OPTIMIZE, (uint32_t)value);
        return error == 0 || failed(c, error, "seccomp_attr_set", NULL);
    }
bad:
    malformed(c->ctx);
    return false;
}

static bool add_lines(struct compiler *c, char *text) {
    while (text && *text) {
        char *end = strchr(text, '\n');
        if (end) *end = 0;
        if (!add_line(c, text)) return false;
        text = end ? end + 1 : NULL;
    }
    if (c->filter) return true;
    malformed(c->ctx);
    return false;
}

/*
 * The peak of this process's memory is here, where libseccomp puts the program together, and next to nothing of the engine is needed meanwhile: pages of
 * text and constants go out of the process, and come back from the page cache where they are used. Never those of a writable segment, which would
 * lose what was written; both ends are rounded inwards, for the page of an end can be the next segment's, too.
 */
static void unmap_constant_segments(void) {
    const ElfW(Phdr) *segments = (const void *)((uintptr_t)&__ehdr_start + __ehdr_start.e_phoff);
    const uintptr_t page = (uintptr_t)getpagesize();
    for (unsigned i = 0; i < __ehdr_start.e_phnum; i++) {
        if (segments[i].p_type != PT_LOAD || (segments[i].p_flags & PF_W)) continue;
        uintptr_t start = (segments[i].p_vaddr + page - 1) & -page, end = (segments[i].p_vaddr + segments[i].p_memsz) & -page;
        if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
    }
}

static JSValue export_program(struct compiler *c) {
    unmap_constant_segments();
    size_t length = 0;
    int error = seccomp_export_bpf_mem(c->filter, NULL, &length);
    uint8_t *data = error < 0 ? NULL : js_malloc(c->ctx, length);
    if (data) error = seccomp_export_bpf_mem(c->filter, data, &length);
    JSValue program = JS_EXCEPTION;
    if (error < 0) host_throw(c->ctx, -error, "seccomp_export_bpf", NULL);
    else if (data) program = JS_NewArrayBufferCopy(c->ctx, data, length);
    js_free(c->ctx, data);
    return program;
}

static JSValue result_of(struct compiler *c, JSValue program) {
    if (JS_IsException(program)) return program;
    JSValue object = JS_NewObject(c->ctx);
    JSValue highest = JS_NewArray(c->ctx);
    for (unsigned i = 0; i < c->architecture_count; i++) {
        JSValue item = JS_NewObject(c->ctx);
        host_set(c->ctx, item, "architecture", JS_NewUint32(c->ctx, c->architectures[i]));
        host_set(c->ctx, item, "number", JS_NewInt64(c->ctx, c->highest[i]));
        JS_DefinePropertyValueUint32(c->ctx, highest, i, item, JS_PROP_C_W_E);
    }
    host_set(c->ctx, object, "program", program);
    host_set(c->ctx, object, "highest", highest);
    host_set(c->ctx, object, "unknown", JS_DupValue(c->ctx, c->unknown));
    return object;
}

HOST_CALL(host_seccomp_compile, "s") {
    struct compiler compiler = { .ctx = ctx, .unknown = JS_NewArray(ctx) };
    char *text = strdup(a[0].text);
    JSValue program = JS_EXCEPTION;
    if (!text) JS_ThrowOutOfMemory(ctx);
    else if (add_lines(&compiler, text)) program = export_program(&compiler);
    if (piece_release_all) piece_release_all();
    free(text);
    JSValue result = result_of(&compiler, program);
    JS_FreeValue(ctx, compiler.unknown);
    return result;
}
