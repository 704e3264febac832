/* Shared declarations of the host module (contract: host.d.ts). */
#ifndef RUNT_HOST_H
#define RUNT_HOST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <quickjs.h>

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

#define HOST_FUNCTION(name) JSValue name(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)

/* ---- embed.S: bytecode and blobs, sorted as the build wrote them */
/* What of a module is part of the image of the started engine; the same numbers stand in tools/bundle.ts. */
enum image_place { IMAGE_READ, IMAGE_EVALUATED, IMAGE_LEFT_OUT };
struct embedded {
    const char *name;
    const uint8_t *start;
    const uint8_t *end;
    uint64_t place; /* enum image_place */
};
extern const struct embedded embedded_modules[];
extern const struct embedded embedded_resources[];
extern const uint8_t helper_start[];
extern const uint8_t helper_end[];

/* ---- main.c */
/* Print the pending exception; the exit status. */
int host_report(JSContext *ctx);
extern int host_argc;
extern char **host_argv;

/* ---- alloc.c */
extern const JSMallocFunctions host_allocator;
/* Memory of the image at its beginning, for what is searched from anywhere. Only while the image is made. */
void *host_allocate_apart(size_t size);
void host_release_apart(void *pointer);
/* What is allocated from now on goes elsewhere than what was before. False: there was something elsewhere already. */
bool host_seal_arena(void);
/* Bytes of the heap that this process has used at any time, without those of the image. */
size_t host_heap_size(void);

/* ---- image.c: the started engine */
JSContext *host_engine(void);
/* Stack that the engine may use: a deep document ends in an error. HOST_STACK_RESERVE more is there for what it calls (stack.c). */
#define HOST_STACK ((size_t)2 << 20)
#define HOST_STACK_RESERVE ((size_t)512 << 10)
extern bool host_building_image;
/* The module "runt:host". */
JSModuleDef *host_own_module(void);

/* ---- modules.c */
void host_init_loader(JSRuntime *rt);
/* Read every module that is not left out and evaluate those that are meant to be; false: an exception is pending. */
bool host_preload_modules(JSContext *ctx);
/* Evaluate an embedded module; the promise of its end, or JS_EXCEPTION. */
JSValue host_evaluate_module(JSContext *ctx, const char *name, JSModuleDef **module);
HOST_FUNCTION(host_js_load_module);
HOST_FUNCTION(host_resource);

/* ---- module.c: the export table */
JSModuleDef *host_new_module(JSContext *ctx);

/* ---- error.c */
/* Throw a HostError; path may be NULL. Returns JS_EXCEPTION. */
JSValue host_throw(JSContext *ctx, int error, const char *syscall_name, const char *path);
const char *host_errno_name(int error);
const char *host_errno_text(int error);
HOST_FUNCTION(host_strerror);
HOST_FUNCTION(host_errno_name_js);

/* ---- arguments.c: conversion of arguments; false means that an exception is pending */
bool host_int(JSContext *ctx, JSValueConst value, int *out);
bool host_u32(JSContext *ctx, JSValueConst value, uint32_t *out);
bool host_u64(JSContext *ctx, JSValueConst value, uint64_t *out);
/* A string without NUL; free with JS_FreeCString. NULL means that an exception is pending. */
const char *host_text(JSContext *ctx, JSValueConst value);
/* The argument or undefined, for optional ones. */
static inline JSValueConst host_arg(int argc, JSValueConst *argv, int index) {
    return index < argc ? argv[index] : JS_UNDEFINED;
}
/* An array of strings as a NULL-terminated vector with `reserve` empty places in front. */
struct string_vector {
    size_t count;
    char **items;
};
bool host_strings(JSContext *ctx, JSValueConst value, size_t reserve, struct string_vector *out);
void host_free_strings(JSContext *ctx, size_t reserve, struct string_vector *vector);
struct int_vector {
    uint32_t count;
    int *items;
};
bool host_ints(JSContext *ctx, JSValueConst value, struct int_vector *out);
bool host_length(JSContext *ctx, JSValueConst array, uint32_t *out);
/* A string or an ArrayBuffer. */
struct bytes {
    const uint8_t *data;
    size_t length;
    const char *text; /* to be freed, or NULL */
};
bool host_bytes(JSContext *ctx, JSValueConst value, struct bytes *out);
void host_free_bytes(JSContext *ctx, struct bytes *bytes);
void host_set(JSContext *ctx, JSValueConst object, const char *name, JSValue value);

/* ---- text.c */
bool host_is_ascii(const uint8_t *data, size_t length);
/* Length of the valid UTF-8 prefix of data. */
size_t host_utf8_prefix(const uint8_t *data, size_t length);
/* A string value, or EILSEQ thrown. */
JSValue host_utf8_string(JSContext *ctx, const uint8_t *data, size_t length, const char *path);
HOST_FUNCTION(host_utf8_encode);
HOST_FUNCTION(host_utf8_decode);
HOST_FUNCTION(host_needs_exact_parser);
HOST_FUNCTION(host_sha256);
HOST_FUNCTION(host_pack);
HOST_FUNCTION(host_pack_plan);
HOST_FUNCTION(host_find_next);

/* ---- sha256.c */
void sha256_hex(const uint8_t *data, size_t length, char out[65]);

/* ---- files.c, line.c, directories.c, stat.c */
/* openat(2) with O_CLOEXEC, again after EINTR. */
int host_open_retry(int directory, const char *path, int flags, mode_t mode);
/* Write everything; -1 and errno on failure. */
int host_write_all(int fd, const uint8_t *data, size_t length);
/* open + write all + close; -1 and errno, *call is what failed. */
int host_write_path(const char *path, const uint8_t *data, size_t length, int flags, mode_t mode, const char **call);
/* access(2) as the effective user. */
bool host_allows(int directory, const char *path, int mode);
HOST_FUNCTION(host_read_file);
HOST_FUNCTION(host_read_fd);
/* A regular file of at most 64 MiB, with a NUL behind it; free with js_free. False: an exception is pending. */
bool host_read_whole(JSContext *ctx, const char *path, uint8_t **data, size_t *length);
HOST_FUNCTION(host_read_members);
/* What one read(2) gives of a file of the kernel's, at most `size` bytes; -1 and errno, *call is what failed. */
ssize_t host_read_once(const char *path, void *buffer, size_t size, const char **call);
HOST_FUNCTION(host_read_line);
HOST_FUNCTION(host_read_bytes);
HOST_FUNCTION(host_write_file);
HOST_FUNCTION(host_write_control);
HOST_FUNCTION(host_open);
HOST_FUNCTION(host_openat);
HOST_FUNCTION(host_open_in_root);
HOST_FUNCTION(host_pread);
HOST_FUNCTION(host_close);
HOST_FUNCTION(host_write);
HOST_FUNCTION(host_fsync);
HOST_FUNCTION(host_isatty);
HOST_FUNCTION(host_fd_is_open);
HOST_FUNCTION(host_window_size);
HOST_FUNCTION(host_close_on_exec_from);
HOST_FUNCTION(host_stat);
HOST_FUNCTION(host_lstat);
HOST_FUNCTION(host_fstat);
HOST_FUNCTION(host_standard_streams);
HOST_FUNCTION(host_statfs_type);
HOST_FUNCTION(host_access);
HOST_FUNCTION(host_setxattr);
HOST_FUNCTION(host_getxattr);
HOST_FUNCTION(host_mkdir);
HOST_FUNCTION(host_try_mkdir);
HOST_FUNCTION(host_rmdir);
HOST_FUNCTION(host_unlink);
HOST_FUNCTION(host_rename);
HOST_FUNCTION(host_link);
HOST_FUNCTION(host_symlink);
HOST_FUNCTION(host_mkfifo);
HOST_FUNCTION(host_chmod);
HOST_FUNCTION(host_chown);
HOST_FUNCTION(host_readdir);
HOST_FUNCTION(host_readlink);
HOST_FUNCTION(host_realpath);
HOST_FUNCTION(host_cwd);
HOST_FUNCTION(host_chdir);
HOST_FUNCTION(host_umask);

/* memcpy(3) of few bytes: a string instruction takes longer to begin than they take. */
static inline void host_copy_few(uint8_t *to, const uint8_t *from, size_t length) {
    if (length >= 8) {
        for (size_t i = 0; i < length - 8; i += 8) __builtin_memcpy(to + i, from + i, 8);
        __builtin_memcpy(to + length - 8, from + length - 8, 8);
    } else if (length >= 4) {
        __builtin_memcpy(to, from, 4);
        __builtin_memcpy(to + length - 4, from + length - 4, 4);
    } else if (length > 0) {
        to[0] = from[0];
        to[length / 2] = from[length / 2];
        to[length - 1] = from[length - 1];
    }
}

/* ---- scan.c */
#define JSON_MOST_NAMES 32
struct json_name {
    const char *text;
    size_t length;
    unsigned end; /* behind its own members, which follow it */
    uint64_t head, mask; /* the first eight bytes, and which of them count */
};
struct json_names {
    unsigned count;
    unsigned top_level;
    struct json_name list[JSON_MOST_NAMES];
};
/* The words of "a b(c d) e": the members a and e, and c and d of the object b. They stay in the text. False: it is no such list. */
bool json_read_names(const char *text, struct json_names *names);
/* The text of a value. */
struct json_span {
    uint8_t *start; /* NULL: the member is absent */
    uint8_t *end;
};
/* The values of these members of an object, in the order of the names. The text is valid UTF-8 with a NUL behind it. *left: how many are absent,
   without those of objects; with 0 the rest of the text was not looked at. False: it is not understood. */
bool json_scan(uint8_t *text, size_t length, const struct json_names *names, struct json_span *spans, unsigned *left);

/* From behind an opening quote to behind the closing one, or NULL. *plain becomes false when there is an escape. */
uint8_t *json_skip_string(uint8_t *at, const uint8_t *end, bool *plain);

/* ---- members.c */
/* Those of the JSON object in this text, which is valid UTF-8 with a NUL behind it and may be written to; JS_UNDEFINED when it is not understood.
   `into`: undefined, or what a former call with these names has given, which may be filled anew. */
JSValue host_json_members(JSContext *ctx, uint8_t *text, size_t length, JSValueConst name_list, JSValueConst into);

/* ---- rows.c, users.c */
struct row_cell {
    const uint8_t *text; /* UTF-8 */
    size_t length;
};
/* As addRow of host.d.ts. False: an exception is pending. */
bool host_add_cells(JSContext *ctx, const struct row_cell *cells, unsigned count);
HOST_FUNCTION(host_add_row);
HOST_FUNCTION(host_write_rows);
HOST_FUNCTION(host_user_name);

/* ---- containers.c */
HOST_FUNCTION(host_add_containers);

/* ---- cgroup.c */
HOST_FUNCTION(host_v1_hierarchies);
HOST_FUNCTION(host_find_levels);
HOST_FUNCTION(host_copy_control);

/* ---- process.c */
HOST_FUNCTION(host_js_argv);
HOST_FUNCTION(host_getenv);
HOST_FUNCTION(host_exit);
HOST_FUNCTION(host_getpid);
HOST_FUNCTION(host_getppid);
HOST_FUNCTION(host_geteuid);
HOST_FUNCTION(host_getegid);
HOST_FUNCTION(host_kill);
HOST_FUNCTION(host_pidfd_open);
HOST_FUNCTION(host_pidfd_send_signal);
HOST_FUNCTION(host_waitpid);
HOST_FUNCTION(host_set_child_subreaper);
HOST_FUNCTION(host_prlimit);
HOST_FUNCTION(host_now);
HOST_FUNCTION(host_sleep);
HOST_FUNCTION(host_effective_capabilities);
HOST_FUNCTION(host_kernel_release);

/* ---- proc_stat.c */
struct process_stat {
    char state;
    char waits_as; /* the same, or 'x': it is exiting, whatever it still waits for */
    /* In clock ticks since boot, decimal; until the next call. */
    const char *start_time;
    size_t start_time_length;
    const char *call; /* that failed */
};
/* Of the process with this pid, decimal. 1; 0: there is none; -1 and errno: nobody knows (there is no /proc). */
int host_process_stat(const char *pid, size_t length, struct process_stat *stat);
/* A zombie, too. */
bool host_is_dead(const struct process_stat *stat);
HOST_FUNCTION(host_proc_stat);
HOST_FUNCTION(host_running_state);

/* ---- executable.c: a descriptor of the embedded helper that execveat(2) accepts */
enum helper_source { HELPER_SEALED_MEMFD, HELPER_DETACHED_TMPFS, HELPER_UNNAMED_FILE, HELPER_SOURCES };
/* -1 and errno when this source is not available here. */
int helper_open(enum helper_source source);
/* The sealed memfd in two steps: the file; and its content and seals, for a child that runs beside its parent (no errno, no memory). */
int helper_empty_memfd(void);
bool helper_fill_beside(int fd);

/* ---- spawn.c */
struct spawn_request {
    int program_fd; /* execveat of this descriptor, or -1 */
    bool fills;     /* ahead: the child first fills it with the helper */
    const char *path;
    char *const *argv;
    char *const *envp;
    const int *inherit;
    uint32_t inherit_count;
    const int *stdio; /* three descriptors for 0, 1, 2, or NULL */
    const char *cwd; /* or NULL */
    bool die_with_parent;
    /* Do not wait for the exec: the request stays as it is for good, and host_ahead_executes() says what became of it. One a process. */
    bool ahead;
    /* Of a child that was started ahead: memory that it shares (native-bindings/shared/doorbell.h), or NULL. */
    volatile uint32_t *page;
    bool in_cgroup;
    int cgroup; /* with in_cgroup: descriptor of the v2 cgroup directory the process starts in */
};
/* vfork-style. Returns the pid, or -1 with errno of the failing call and *failed_call. */
pid_t host_spawn(const struct spawn_request *request, const char **failed_call);
/* The child that was started ahead has not executed yet, nor ended. */
bool host_ahead_prepares(void);
/* Waits for its exec. False: it has failed. */
bool host_ahead_executes(void);
/* Whether it has had a processor of its own since, and this process its. */
bool host_ahead_is_undisturbed(void);
/* A peer that went away, and RLIMIT_FSIZE, are errors of write(2), not the end of this process. */
void host_ignore_signals(void);
/* What this program changed for itself goes back to what it was, before an exec. */
void host_reset_signals(void);
/* execveat(2) of this very file, or execve(2) through /proc where that is refused. Returns with errno. */
int host_execute(int fd, char *const *argv, char *const *envp);

/* ---- fetch.c */
/* A child is about to be made that reads mountinfo; or could not be. */
void host_expect_mounts(bool is_coming);
/* By that child, with raw calls alone. */
void host_fetch_mounts(void);
/* Whether the file of this path has been read whole; waits for a child that is about to. */
bool host_has_fetched(const char *path, const char **text, size_t *length);

/* ---- rendezvous.c */
/* The page of an optional argument (an ArrayBuffer), NULL where there is none. False: an exception. */
bool host_page(JSContext *ctx, JSValueConst value, volatile uint32_t **page);

/* ---- helper.c, program.c */
HOST_FUNCTION(host_spawn_helper);
HOST_FUNCTION(host_spawn_helper_ahead);
HOST_FUNCTION(host_ahead_runs);
HOST_FUNCTION(host_exec_helper);
HOST_FUNCTION(host_run_program);

/* ---- detach.c */
HOST_FUNCTION(host_detach);

/* ---- own_mounts.c */
HOST_FUNCTION(host_enter_own_mounts);
HOST_FUNCTION(host_leave_own_mounts);

/* ---- root_mount.c */
HOST_FUNCTION(host_clone_mount);
HOST_FUNCTION(host_attach_mount);
HOST_FUNCTION(host_mount_ids);
HOST_FUNCTION(host_detach_mount);

/* ---- peer.c */
HOST_FUNCTION(host_spawn_peer);
HOST_FUNCTION(host_receive_packet);

/* ---- rendezvous.c */
HOST_FUNCTION(host_memfd);
HOST_FUNCTION(host_shared_page);
HOST_FUNCTION(host_socketpair);
HOST_FUNCTION(host_send_message);
HOST_FUNCTION(host_receive_message);
HOST_FUNCTION(host_poll);

/* ---- wait.c */
HOST_FUNCTION(host_block_signals);
HOST_FUNCTION(host_unblock_signals);
HOST_FUNCTION(host_end_waits_by_signal);
HOST_FUNCTION(host_ending_signal);
/* poll(2) that goes on after signals until timeout_ms is over. EINTR: one that ends waits has come (endWaitsBySignal). */
struct pollfd;
int host_poll_until(struct pollfd *fds, unsigned long count, int timeout_ms);
int64_t host_monotonic_ms(void);

/* ---- lock.c */
HOST_FUNCTION(host_flock);

/* ---- seccomp.c */
extern const char host_seccomp_version[];
HOST_FUNCTION(host_seccomp_compile);
HOST_FUNCTION(host_compact_filter);

/* ---- stream.c */
/* A connected, close-on-exec stream socket; "@name" is abstract. -1 and errno. */
int host_connect_to(const char *path);
HOST_FUNCTION(host_connect);
HOST_FUNCTION(host_connect_datagram);
HOST_FUNCTION(host_bind_datagram);
HOST_FUNCTION(host_receive);
HOST_FUNCTION(host_monotonic);

/* ---- listener.c */
/* One message with a descriptor (-1 = none); sendmsg(2)'s result. */
struct iovec;
ssize_t host_send_with(int socket, struct iovec *part, int descriptor);
HOST_FUNCTION(host_send_descriptor);

/* ---- trace.c */
/* Notes the time when the command line has the word --trace. */
void host_note_start(int argc, char **argv);
HOST_FUNCTION(host_clock);
HOST_FUNCTION(host_usage);
/* Call the callback with name and value of each function of the module; what it returns, unless undefined, takes the function's place. */
JSValue host_replace_functions(JSContext *ctx, JSModuleDef *module, const JSCFunctionListEntry *entries, int count, JSValueConst callback);

/* ---- netlink.c */
HOST_FUNCTION(host_netlink_open);
HOST_FUNCTION(host_netlink_request);

/* ---- notify.c */
HOST_FUNCTION(host_eventfd);
HOST_FUNCTION(host_watch_modified);
HOST_FUNCTION(host_drain);

/* ---- bpf.c */
HOST_FUNCTION(host_bpf_load_device_program);
HOST_FUNCTION(host_bpf_attach_device);
HOST_FUNCTION(host_bpf_detach_device);
HOST_FUNCTION(host_bpf_query_device);

#endif
