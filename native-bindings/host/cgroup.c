/*
 * Steps of the cgroup layer that are made for each of ten or so hierarchies of v1 and mostly find the usual: one call for all of them, and what
 * is unusual is left to TypeScript (src/runtime/cgroup).
 */
#include "arguments.h"
#include "error.h"
#include "fetch.h"
#include "files.h"
#include "function.h"

#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOST_HIERARCHIES 32
/* MAJOR:MINOR */
#define LARGEST_DEVICE 24
/* Of a file of mountinfo at once: a busy host has a thousand lines, and only those of cgroups matter. */
#define MOUNTINFO_CHUNK 32768
/* More than the longest list of CPUs. */
#define LARGEST_CONTROL 65536

struct span {
    const char *start;
    size_t length;
};

static struct span between(const char *start, const char *end) {
    return (struct span){ start, (size_t)(end - start) };
}

static JSValue string(JSContext *ctx, struct span text) {
    return JS_NewStringLen(ctx, text.start, text.length);
}

static bool append(JSContext *ctx, JSValueConst array, uint32_t *count, JSValue value) {
    return !JS_IsException(value) && JS_SetPropertyUint32(ctx, array, (*count)++, value) >= 0;
}

/* ---- mountinfo */

/* What stands behind the next blank; NULL: there is none. */
static const char *next_field(const char *at, const char *end) {
    const char *blank = at ? memchr(at, ' ', (size_t)(end - at)) : NULL;
    return blank ? blank + 1 : NULL;
}

/* `words`: separated by one blank each. */
static bool is_among(const char *words, struct span word) {
    for (const char *at = words; *at; at += *at == ' ') {
        size_t same = 0;
        while (same < word.length && at[same] == word.start[same]) same++;
        at += same;
        if (same == word.length && (*at == ' ' || *at == 0)) return true;
        while (*at && *at != ' ') at++;
    }
    return false;
}

static bool is_named(struct span option) {
    static const char name[] = "name=";
    return option.length >= sizeof(name) - 1 && memcmp(option.start, name, sizeof(name) - 1) == 0;
}

struct mounts {
    JSContext *ctx;
    const char *controllers;
    uint32_t count;
    char devices[MOST_HIERARCHIES][LARGEST_DEVICE];
    bool controlled; /* one of them has a controller */
    JSValue list;
};

enum outcome { ADDED, UNUSUAL, FAILED };

/* Those of the superblock's options that are controllers, or the name of the hierarchy. */
static JSValue controllers_of(struct mounts *mounts, struct span options) {
    uint32_t count = 0;
    const char *end = options.start + options.length;
    JSValue list = JS_NewArray(mounts->ctx);
    for (const char *at = options.start; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        struct span option = between(at, comma ? comma : end);
        bool is_controller = is_among(mounts->controllers, option);
        mounts->controlled |= is_controller;
        if ((is_controller || is_named(option)) && !append(mounts->ctx, list, &count, string(mounts->ctx, option))) {
            JS_FreeValue(mounts->ctx, list);
            return JS_EXCEPTION;
        }
        at = option.start + option.length + 1;
    }
    return list;
}

/* A hierarchy that is mounted twice is unusual, and so is a mount point with an escape. */
static enum outcome add_mount(struct mounts *mounts, struct span device, struct span mountpoint, struct span options) {
    JSContext *ctx = mounts->ctx;
    if (mounts->count == MOST_HIERARCHIES || memchr(mountpoint.start, '\\', mountpoint.length)) return UNUSUAL;
    if (device.length >= LARGEST_DEVICE) return UNUSUAL;
    char *known = mounts->devices[mounts->count];
    memcpy(known, device.start, device.length);
    known[device.length] = 0;
    for (uint32_t i = 0; i < mounts->count; i++)
        if (strcmp(mounts->devices[i], known) == 0) return UNUSUAL;
    JSValue controllers = controllers_of(mounts, options);
    if (JS_IsException(controllers)) return FAILED;
    JSValue hierarchy = JS_NewObject(ctx);
    host_set(ctx, hierarchy, "mountpoint", string(ctx, mountpoint));
    host_set(ctx, hierarchy, "controllers", controllers);
    return append(ctx, mounts->list, &mounts->count, hierarchy) ? ADDED : FAILED;
}

/* A line with a " - cgroup" there, of this text. */
static enum outcome read_mount(struct mounts *mounts, struct span text, const char *at) {
    const char *end = text.start + text.length, *fstype = at + sizeof(" - ") - 1, *behind = fstype + sizeof("cgroup") - 1;
    if (behind[0] == '2' && behind[1] == ' ') return ADDED;
    const char *before = memrchr(text.start, '\n', (size_t)(at - text.start)), *line = before ? before + 1 : text.start;
    const char *device = next_field(next_field(line, at), at), *root = next_field(device, at), *mountpoint = next_field(root, at);
    const char *options = next_field(mountpoint, at);
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (!line_end) line_end = end;
    const char *super_options = next_field(next_field(fstype, line_end), line_end);
    if (*behind != ' ' || !options || !super_options || next_field(super_options, line_end)) return UNUSUAL;
    return add_mount(mounts, between(device, root - 1), between(mountpoint, options - 1), between(super_options, line_end));
}

static enum outcome read_lines(struct mounts *mounts, struct span text) {
    static const char sign[] = " - cgroup";
    const char *end = text.start + text.length, *at = text.start;
    enum outcome outcome = ADDED;
    while (outcome == ADDED && (at = memmem(at, (size_t)(end - at), sign, sizeof(sign) - 1)) != NULL) outcome = read_mount(mounts, text, at++);
    return outcome;
}

static enum outcome read_mounts(struct mounts *mounts, int fd, const char *path) {
    static char chunk[MOUNTINFO_CHUNK];
    size_t kept = 0;
    enum outcome outcome = ADDED;
    while (outcome == ADDED) {
        ssize_t got = read(fd, chunk + kept, sizeof(chunk) - kept);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            host_throw(mounts->ctx, errno, "read", path);
            return FAILED;
        }
        const size_t length = kept + (size_t)got;
        const char *last = got == 0 ? chunk + length - 1 : memrchr(chunk, '\n', length);
        const size_t whole = last ? (size_t)(last + 1 - chunk) : 0;
        outcome = read_lines(mounts, (struct span){ chunk, whole });
        if (got == 0) break;
        kept = length - whole;
        if (kept == sizeof(chunk)) return UNUSUAL;
        memmove(chunk, chunk + whole, kept);
    }
    return outcome;
}

/* Without a controller a cgroup2 tree beside them counts. */
static enum outcome with_controllers(const struct mounts *mounts, enum outcome outcome) {
    return outcome == ADDED && !mounts->controlled ? UNUSUAL : outcome;
}

static enum outcome open_mounts(struct mounts *mounts, const char *path) {
    struct span fetched;
    if (host_has_fetched(path, &fetched.start, &fetched.length)) {
        mounts->list = JS_NewArray(mounts->ctx);
        return with_controllers(mounts, read_lines(mounts, fetched));
    }
    int fd = host_open_retry(AT_FDCWD, path, O_RDONLY, 0);
    if (fd < 0) {
        host_throw(mounts->ctx, errno, "open", path);
        return FAILED;
    }
    mounts->list = JS_NewArray(mounts->ctx);
    enum outcome outcome = with_controllers(mounts, read_mounts(mounts, fd, path));
    close(fd);
    return outcome;
}

HOST_FUNCTION(host_v1_hierarchies) {
    struct mounts mounts = { .ctx = ctx, .list = JS_UNDEFINED };
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    mounts.controllers = path ? host_text(ctx, host_arg(argc, argv, 1)) : NULL;
    enum outcome outcome = mounts.controllers ? open_mounts(&mounts, path) : FAILED;
    if (mounts.controllers) JS_FreeCString(ctx, mounts.controllers);
    if (path) JS_FreeCString(ctx, path);
    if (outcome == ADDED) return mounts.list;
    JS_FreeValue(ctx, mounts.list);
    return outcome == FAILED ? JS_EXCEPTION : JS_UNDEFINED;
}

/* ---- directories */

struct levels {
    JSContext *ctx;
    const char *attribute;
    uint32_t missing_count, kept_count;
    JSValue missing, kept;
};

enum level { ABSENT, MARKED, OTHER, UNKNOWN };

static void go_up(char *path) {
    char *slash = strrchr(path, '/');
    *(slash ? slash : path) = 0;
}

/* UNKNOWN: errno says why. Above the root there is no level. */
static enum level look_at(const char *path, const char *attribute) {
    if (!*path) return OTHER;
    if (lgetxattr(path, attribute, NULL, 0) >= 0) return MARKED;
    if (errno == ENOENT) return ABSENT;
    return errno == ENODATA || errno == EOPNOTSUPP ? OTHER : UNKNOWN;
}

/* False: an exception is pending. */
static bool add_levels(struct levels *levels, JSValueConst value, const char *path) {
    JSContext *ctx = levels->ctx;
    char *level = js_strdup(ctx, path);
    if (!level) return false;
    go_up(level);
    enum level found = look_at(level, levels->attribute);
    int error = errno;
    bool ok = true;
    /* Where the level above is absent, it is, too. */
    if (found != ABSENT && host_allows(AT_FDCWD, path, F_OK)) {
        ok = append(ctx, levels->kept, &levels->kept_count, JS_DupValue(ctx, value));
        found = OTHER;
    }
    while (ok && (found == ABSENT || found == MARKED)) {
        ok = append(ctx, levels->missing, &levels->missing_count, JS_NewString(ctx, level));
        go_up(level);
        found = look_at(level, levels->attribute);
        error = errno;
    }
    if (ok && found == UNKNOWN) {
        host_throw(ctx, error, "lgetxattr", level);
        ok = false;
    }
    js_free(ctx, level);
    return ok;
}

static bool add_all(struct levels *levels, JSValueConst paths) {
    uint32_t count;
    bool ok = host_length(levels->ctx, paths, &count);
    for (uint32_t i = 0; ok && i < count; i++) {
        JSValue value = JS_GetPropertyUint32(levels->ctx, paths, i);
        const char *path = host_text(levels->ctx, value);
        ok = path && add_levels(levels, value, path);
        if (path) JS_FreeCString(levels->ctx, path);
        JS_FreeValue(levels->ctx, value);
    }
    return ok;
}

HOST_FUNCTION(host_find_levels) {
    struct levels levels = { .ctx = ctx, .attribute = host_text(ctx, host_arg(argc, argv, 1)) };
    if (!levels.attribute) return JS_EXCEPTION;
    levels.kept = JS_NewArray(ctx);
    levels.missing = JS_NewArray(ctx);
    JSValue result = JS_NewObject(ctx);
    bool ok = add_all(&levels, host_arg(argc, argv, 0));
    JS_FreeCString(ctx, levels.attribute);
    host_set(ctx, result, "kept", levels.kept);
    host_set(ctx, result, "missing", levels.missing);
    if (ok) return result;
    JS_FreeValue(ctx, result);
    return JS_EXCEPTION;
}

/* ---- control files */

/* What one read(2) gives; -1 and errno, *call is what failed. */
static ssize_t read_control(const char *path, uint8_t text[LARGEST_CONTROL], const char **call) {
    int fd = host_open_retry(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    *call = "open";
    if (fd < 0) return -1;
    *call = "read";
    ssize_t length;
    do length = read(fd, text, LARGEST_CONTROL);
    while (length < 0 && errno == EINTR);
    int error = length == LARGEST_CONTROL ? EFBIG : errno;
    close(fd);
    errno = error;
    return length == LARGEST_CONTROL ? -1 : length;
}

static JSValue copy_control(JSContext *ctx, const char *from, const char *to) {
    static uint8_t text[LARGEST_CONTROL];
    const char *call;
    ssize_t length = read_control(from, text, &call);
    if (length < 0) return host_throw(ctx, errno, call, from);
    while (length > 0 && text[length - 1] == '\n') length--;
    if (length == 0) return JS_FALSE;
    return host_write_path(to, text, (size_t)length, O_WRONLY, 0, &call) < 0 ? host_throw(ctx, errno, call, to) : JS_TRUE;
}

HOST_FUNCTION(host_copy_control) {
    const char *from = host_text(ctx, host_arg(argc, argv, 0));
    const char *to = from ? host_text(ctx, host_arg(argc, argv, 1)) : NULL;
    JSValue result = to ? copy_control(ctx, from, to) : JS_EXCEPTION;
    if (to) JS_FreeCString(ctx, to);
    if (from) JS_FreeCString(ctx, from);
    return result;
}
