/* Names in the file system: make, remove, rename, list and follow. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

HOST_CALL(host_mkdir, "si") { return host_done(ctx, mkdir(a[0].text, a[1].bits), "mkdir", a[0].text); }

/* Expected errors do not throw: an error object costs more than the call. */
HOST_CALL(host_try_mkdir, "si") {
    int status = mkdir(a[0].text, a[1].bits);
    if (status < 0 && errno == ENOENT) return JS_UNDEFINED;
    return status < 0 && errno != EEXIST ? host_throw(ctx, errno, "mkdir", a[0].text) : JS_NewBool(ctx, status == 0);
}

HOST_CALL(host_mkfifo, "si") { return host_done(ctx, mkfifo(a[0].text, a[1].bits), "mkfifo", a[0].text); }

HOST_CALL(host_chmod, "si") { return host_done(ctx, chmod(a[0].text, a[1].bits), "chmod", a[0].text); }

HOST_CALL(host_chown, "sii") { return host_done(ctx, chown(a[0].text, a[1].bits, a[2].bits), "chown", a[0].text); }

HOST_CALL(host_rmdir, "s") { return host_done(ctx, rmdir(a[0].text), "rmdir", a[0].text); }

HOST_CALL(host_unlink, "s") { return host_done(ctx, unlink(a[0].text), "unlink", a[0].text); }

HOST_CALL(host_chdir, "s") { return host_done(ctx, chdir(a[0].text), "chdir", a[0].text); }

HOST_CALL(host_rename, "ss") { return host_done(ctx, rename(a[0].text, a[1].text), "rename", a[1].text); }

HOST_CALL(host_link, "ss") { return host_done(ctx, link(a[0].text, a[1].text), "link", a[1].text); }

HOST_CALL(host_symlink, "ss") { return host_done(ctx, symlink(a[0].text, a[1].text), "symlink", a[1].text); }

/* A symbolic link to one is none. Asks where the file system does not tell the type. */
static bool is_directory(DIR *directory, const struct dirent *entry) {
    if (entry->d_type != DT_UNKNOWN) return entry->d_type == DT_DIR;
    struct stat status;
    return fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
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

HOST_CALL(host_readdir, "s?os") {
    bool allowed[UCHAR_MAX + 1] = { false }, restricted = a[2].is_given;
    for (const char *at = a[2].text; restricted && *at; at++) allowed[(unsigned char)*at] = true;
    DIR *directory = opendir(a[0].text);
    if (!directory) return host_throw(ctx, errno, "open", a[0].text);
    struct names names = { 0 };
    int error = read_names(ctx, directory, a[1].truth, restricted ? allowed : NULL, &names);
    closedir(directory);
    JSValue result = JS_EXCEPTION;
    if (error == 0) result = name_list(ctx, &names, restricted);
    else if (error > 0) host_throw(ctx, error, "readdir", a[0].text);
    js_free(ctx, names.text);
    return result;
}

HOST_CALL(host_readlink, "s") {
    char target[PATH_MAX];
    ssize_t length = readlink(a[0].text, target, sizeof(target));
    return length < 0 ? host_throw(ctx, errno, "readlink", a[0].text) : JS_NewStringLen(ctx, target, (size_t)length);
}

HOST_CALL(host_realpath, "s") {
    char resolved[PATH_MAX];
    return realpath(a[0].text, resolved) ? JS_NewString(ctx, resolved) : host_throw(ctx, errno, "realpath", a[0].text);
}

HOST_FUNCTION(host_cwd) {
    char path[PATH_MAX];
    return getcwd(path, sizeof(path)) ? JS_NewString(ctx, path) : host_throw(ctx, errno, "getcwd", NULL);
}

HOST_CALL(host_umask, "i") { return JS_NewUint32(ctx, umask(a[0].bits & 0777)); }
