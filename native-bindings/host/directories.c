/* Names in the file system: make, remove, rename, list and follow. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Finish a call on one path: throw from errno or give undefined. */
static JSValue finish(JSContext *ctx, int status, const char *call, const char *path) {
    JSValue result = status < 0 ? host_throw(ctx, errno, call, path) : JS_UNDEFINED;
    JS_FreeCString(ctx, path);
    return result;
}

static const char *path_and_mode(JSContext *ctx, int argc, JSValueConst *argv, mode_t *mode) {
    uint32_t number;
    if (!host_u32(ctx, host_arg(argc, argv, 1), &number)) return NULL;
    *mode = number;
    return host_text(ctx, host_arg(argc, argv, 0));
}

HOST_FUNCTION(host_mkdir) {
    mode_t mode;
    const char *path = path_and_mode(ctx, argc, argv, &mode);
    return path ? finish(ctx, mkdir(path, mode), "mkdir", path) : JS_EXCEPTION;
}

/* Expected errors do not throw: an error object costs more than the call. */
HOST_FUNCTION(host_try_mkdir) {
    mode_t mode;
    const char *path = path_and_mode(ctx, argc, argv, &mode);
    if (!path) return JS_EXCEPTION;
    int status = mkdir(path, mode);
    if (status < 0 && errno != EEXIST && errno != ENOENT) return finish(ctx, status, "mkdir", path);
    int error = status < 0 ? errno : 0;
    JS_FreeCString(ctx, path);
    return error == ENOENT ? JS_UNDEFINED : JS_NewBool(ctx, error == 0);
}

HOST_FUNCTION(host_mkfifo) {
    mode_t mode;
    const char *path = path_and_mode(ctx, argc, argv, &mode);
    return path ? finish(ctx, mkfifo(path, mode), "mkfifo", path) : JS_EXCEPTION;
}

HOST_FUNCTION(host_chmod) {
    mode_t mode;
    const char *path = path_and_mode(ctx, argc, argv, &mode);
    return path ? finish(ctx, chmod(path, mode), "chmod", path) : JS_EXCEPTION;
}

HOST_FUNCTION(host_rmdir) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    return path ? finish(ctx, rmdir(path), "rmdir", path) : JS_EXCEPTION;
}

HOST_FUNCTION(host_unlink) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    return path ? finish(ctx, unlink(path), "unlink", path) : JS_EXCEPTION;
}

HOST_FUNCTION(host_chdir) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    return path ? finish(ctx, chdir(path), "chdir", path) : JS_EXCEPTION;
}

HOST_FUNCTION(host_chown) {
    uint32_t uid, gid;
    if (!host_u32(ctx, host_arg(argc, argv, 1), &uid) || !host_u32(ctx, host_arg(argc, argv, 2), &gid)) return JS_EXCEPTION;
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    return path ? finish(ctx, chown(path, uid, gid), "chown", path) : JS_EXCEPTION;
}

static JSValue two_paths(JSContext *ctx, int argc, JSValueConst *argv, int (*call)(const char *, const char *), const char *name) {
    const char *first = host_text(ctx, host_arg(argc, argv, 0));
    const char *second = first ? host_text(ctx, host_arg(argc, argv, 1)) : NULL;
    JSValue result = JS_EXCEPTION;
    if (second) result = finish(ctx, call(first, second), name, second);
    if (first) JS_FreeCString(ctx, first);
    return result;
}

HOST_FUNCTION(host_rename) { return two_paths(ctx, argc, argv, rename, "rename"); }

HOST_FUNCTION(host_link) { return two_paths(ctx, argc, argv, link, "link"); }

HOST_FUNCTION(host_symlink) { return two_paths(ctx, argc, argv, symlink, "symlink"); }

/* Follows symbolic links, and asks where the file system does not tell the type. */
static bool is_directory(DIR *directory, const struct dirent *entry) {
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK) return entry->d_type == DT_DIR;
    struct stat status;
    return fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

static bool is_made_of(const char *name, const bool allowed[UCHAR_MAX + 1]) {
    while (allowed[(unsigned char)*name]) name++;
    return *name == 0;
}

/* Names of a directory, one behind the other, each with its NUL. */
struct names {
    char *text;
    size_t length, capacity;
    uint32_t count;
};

static bool add_name(JSContext *ctx, struct names *names, const char *name) {
    size_t length = strlen(name) + 1;
    if (names->capacity - names->length < length) {
        size_t capacity = names->capacity * 2 + 4096;
        char *grown = js_realloc(ctx, names->text, capacity);
        if (!grown) return false;
        names->text = grown;
        names->capacity = capacity;
    }
    memcpy(names->text + names->length, name, length);
    names->length += length;
    names->count++;
    return true;
}

/* 0, errno, or -1 when an exception is pending. `allowed`: characters, or NULL for all. */
static int read_names(JSContext *ctx, DIR *directory, bool directories, const bool *allowed, struct names *names) {
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(directory);
        if (!entry) return errno;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (allowed && !is_made_of(entry->d_name, allowed)) continue;
        if (directories && !is_directory(directory, entry)) continue;
        if (!add_name(ctx, names, entry->d_name)) return -1;
    }
}

static int compare_names(const void *first, const void *second) {
    return strcmp(*(const char *const *)first, *(const char *const *)second);
}

static JSValue name_list(JSContext *ctx, const struct names *names, bool sorted) {
    const char **list = js_malloc(ctx, (names->count + 1) * sizeof(*list));
    if (!list) return JS_EXCEPTION;
    const char *at = names->text;
    for (uint32_t i = 0; i < names->count; i++, at += strlen(at) + 1) list[i] = at;
    if (sorted) qsort(list, names->count, sizeof(*list), compare_names);
    JSValue array = JS_NewArray(ctx);
    for (uint32_t i = 0; i < names->count; i++) JS_SetPropertyUint32(ctx, array, i, JS_NewString(ctx, list[i]));
    js_free(ctx, list);
    return array;
}

HOST_FUNCTION(host_readdir) {
    bool directories = JS_ToBool(ctx, host_arg(argc, argv, 1)) > 0;
    bool allowed[UCHAR_MAX + 1] = { false }, restricted = !JS_IsUndefined(host_arg(argc, argv, 2));
    if (restricted) {
        const char *characters = host_text(ctx, argv[2]);
        if (!characters) return JS_EXCEPTION;
        for (const char *at = characters; *at; at++) allowed[(unsigned char)*at] = true;
        JS_FreeCString(ctx, characters);
    }
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    JSValue result;
    DIR *directory = opendir(path);
    if (!directory) {
        result = host_throw(ctx, errno, "open", path);
    } else {
        struct names names = { 0 };
        int error = read_names(ctx, directory, directories, restricted ? allowed : NULL, &names);
        closedir(directory);
        if (error) result = error < 0 ? JS_EXCEPTION : host_throw(ctx, error, "readdir", path);
        else result = name_list(ctx, &names, restricted);
        js_free(ctx, names.text);
    }
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_readlink) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof(target));
    JSValue result = length < 0 ? host_throw(ctx, errno, "readlink", path) : JS_NewStringLen(ctx, target, (size_t)length);
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_realpath) {
    const char *path = host_text(ctx, host_arg(argc, argv, 0));
    if (!path) return JS_EXCEPTION;
    char resolved[PATH_MAX];
    JSValue result = realpath(path, resolved) ? JS_NewString(ctx, resolved) : host_throw(ctx, errno, "realpath", path);
    JS_FreeCString(ctx, path);
    return result;
}

HOST_FUNCTION(host_cwd) {
    char path[PATH_MAX];
    return getcwd(path, sizeof(path)) ? JS_NewString(ctx, path) : host_throw(ctx, errno, "getcwd", NULL);
}

HOST_FUNCTION(host_umask) {
    uint32_t mask;
    if (!host_u32(ctx, host_arg(argc, argv, 0), &mask)) return JS_EXCEPTION;
    return JS_NewUint32(ctx, umask(mask & 0777));
}
