/* The module "runt:host": names and functions (contract: host.d.ts). */
#include "../host/host.h"

#include "../testing/host_points.h"

#include "build.h" /* generated: RUNT_VERSION, RUNT_COMMIT */

static const JSCFunctionListEntry build_fields[] = {
    JS_PROP_STRING_DEF("version", RUNT_VERSION, JS_PROP_ENUMERABLE),
    JS_PROP_STRING_DEF("commit", RUNT_COMMIT, JS_PROP_ENUMERABLE),
};

#if defined(__aarch64__)
#define ARCHITECTURE "arm64"
#elif defined(__x86_64__)
#define ARCHITECTURE "amd64"
#else
#error "this architecture is not supported"
#endif

static HOST_FUNCTION(host_replace_exports);

static const JSCFunctionListEntry exports[] = {
    JS_PROP_STRING_DEF("architecture", ARCHITECTURE, JS_PROP_ENUMERABLE),
    JS_OBJECT_DEF("build", build_fields, ARRAY_LENGTH(build_fields), JS_PROP_ENUMERABLE),
    JS_CFUNC_DEF("argv", 0, host_js_argv),
    JS_CFUNC_DEF("getenv", 1, host_getenv),
    JS_CFUNC_DEF("exit", 1, host_exit),
    JS_CFUNC_DEF("loadModule", 1, host_js_load_module),
    JS_CFUNC_DEF("resource", 1, host_resource),
    JS_CFUNC_DEF("utf8Encode", 1, host_utf8_encode),
    JS_CFUNC_DEF("utf8Decode", 1, host_utf8_decode),
    JS_CFUNC_DEF("pack", 2, host_pack),
    JS_CFUNC_DEF("packPlan", 6, host_pack_plan),
    JS_CFUNC_DEF("findNext", 4, host_find_next),
    JS_CFUNC_DEF("v1Hierarchies", 2, host_v1_hierarchies),
    JS_CFUNC_DEF("sha256", 1, host_sha256),
    JS_CFUNC_DEF("needsExactParser", 1, host_needs_exact_parser),
    JS_CFUNC_DEF("readFile", 1, host_read_file),
    JS_CFUNC_DEF("readFd", 1, host_read_fd),
    JS_CFUNC_DEF("readMembers", 4, host_read_members),
    JS_CFUNC_DEF("readLine", 1, host_read_line),
    JS_CFUNC_DEF("readBytes", 2, host_read_bytes),
    JS_CFUNC_DEF("writeFile", 4, host_write_file),
    JS_CFUNC_DEF("writeControl", 2, host_write_control),
    JS_CFUNC_DEF("copyControl", 2, host_copy_control),
    JS_CFUNC_DEF("open", 2, host_open),
    JS_CFUNC_DEF("openat", 3, host_openat),
    JS_CFUNC_DEF("openInRoot", 3, host_open_in_root),
    JS_CFUNC_DEF("pread", 3, host_pread),
    JS_CFUNC_DEF("close", 1, host_close),
    JS_CFUNC_DEF("write", 2, host_write),
    JS_CFUNC_DEF("addRow", 6, host_add_row),
    JS_CFUNC_DEF("writeRows", 2, host_write_rows),
    JS_CFUNC_DEF("addContainers", 7, host_add_containers),
    JS_CFUNC_DEF("stat", 1, host_stat),
    JS_CFUNC_DEF("lstat", 1, host_lstat),
    JS_CFUNC_DEF("fstat", 1, host_fstat),
    JS_CFUNC_DEF("standardStreams", 1, host_standard_streams),
    JS_CFUNC_DEF("statfsType", 1, host_statfs_type),
    JS_CFUNC_DEF("access", 2, host_access),
    JS_CFUNC_DEF("mkdir", 2, host_mkdir),
    JS_CFUNC_DEF("tryMkdir", 2, host_try_mkdir),
    JS_CFUNC_DEF("rmdir", 1, host_rmdir),
    JS_CFUNC_DEF("unlink", 1, host_unlink),
    JS_CFUNC_DEF("rename", 2, host_rename),
    JS_CFUNC_DEF("link", 2, host_link),
    JS_CFUNC_DEF("symlink", 2, host_symlink),
    JS_CFUNC_DEF("mkfifo", 2, host_mkfifo),
    JS_CFUNC_DEF("chmod", 2, host_chmod),
    JS_CFUNC_DEF("chown", 3, host_chown),
    JS_CFUNC_DEF("fsync", 1, host_fsync),
    JS_CFUNC_DEF("readdir", 1, host_readdir),
    JS_CFUNC_DEF("readlink", 1, host_readlink),
    JS_CFUNC_DEF("realpath", 1, host_realpath),
    JS_CFUNC_DEF("cwd", 0, host_cwd),
    JS_CFUNC_DEF("chdir", 1, host_chdir),
    JS_CFUNC_DEF("umask", 1, host_umask),
    JS_CFUNC_DEF("flock", 3, host_flock),
    JS_CFUNC_DEF("setxattr", 3, host_setxattr),
    JS_CFUNC_DEF("getxattr", 2, host_getxattr),
    JS_CFUNC_DEF("findLevels", 2, host_find_levels),
    JS_CFUNC_DEF("isatty", 1, host_isatty),
    JS_CFUNC_DEF("closeOnExecFrom", 1, host_close_on_exec_from),
    JS_CFUNC_DEF("fdIsOpen", 1, host_fd_is_open),
    JS_CFUNC_DEF("windowSize", 1, host_window_size),
    JS_CFUNC_DEF("getpid", 0, host_getpid),
    JS_CFUNC_DEF("getppid", 0, host_getppid),
    JS_CFUNC_DEF("geteuid", 0, host_geteuid),
    JS_CFUNC_DEF("getegid", 0, host_getegid),
    JS_CFUNC_DEF("kill", 2, host_kill),
    JS_CFUNC_DEF("pidfdOpen", 1, host_pidfd_open),
    JS_CFUNC_DEF("pidfdSendSignal", 2, host_pidfd_send_signal),
    JS_CFUNC_DEF("procStat", 1, host_proc_stat),
    JS_CFUNC_DEF("runningState", 2, host_running_state),
    JS_CFUNC_DEF("userName", 1, host_user_name),
    JS_CFUNC_DEF("waitpid", 2, host_waitpid),
    JS_CFUNC_DEF("blockSignals", 0, host_block_signals),
    JS_CFUNC_DEF("unblockSignals", 0, host_unblock_signals),
    JS_CFUNC_DEF("endWaitsBySignal", 1, host_end_waits_by_signal),
    JS_CFUNC_DEF("endingSignal", 0, host_ending_signal),
    JS_CFUNC_DEF("setChildSubreaper", 1, host_set_child_subreaper),
    JS_CFUNC_DEF("prlimit", 4, host_prlimit),
    JS_CFUNC_DEF("now", 0, host_now),
    JS_CFUNC_DEF("sleep", 1, host_sleep),
    JS_CFUNC_DEF("effectiveCapabilities", 0, host_effective_capabilities),
    JS_CFUNC_DEF("kernelRelease", 0, host_kernel_release),
    JS_CFUNC_DEF("spawnHelper", 3, host_spawn_helper),
    JS_CFUNC_DEF("spawnHelperAhead", 3, host_spawn_helper_ahead),
    JS_CFUNC_DEF("helperAheadRuns", 1, host_ahead_runs),
    JS_CFUNC_DEF("execHelper", 2, host_exec_helper),
    JS_CFUNC_DEF("runProgram", 7, host_run_program),
    JS_CFUNC_DEF("detach", 0, host_detach),
    JS_CFUNC_DEF("enterOwnMounts", 1, host_enter_own_mounts),
    JS_CFUNC_DEF("leaveOwnMounts", 1, host_leave_own_mounts),
    JS_CFUNC_DEF("cloneMount", 1, host_clone_mount),
    JS_CFUNC_DEF("attachMount", 2, host_attach_mount),
    JS_CFUNC_DEF("mountIds", 1, host_mount_ids),
    JS_CFUNC_DEF("detachMount", 1, host_detach_mount),
    JS_CFUNC_DEF("spawnPeer", 4, host_spawn_peer),
    JS_CFUNC_DEF("receivePacket", 1, host_receive_packet),
    JS_CFUNC_DEF("memfd", 2, host_memfd),
    JS_CFUNC_DEF("sharedPage", 2, host_shared_page),
    JS_CFUNC_DEF("socketpair", 0, host_socketpair),
    JS_CFUNC_DEF("sendMessage", 4, host_send_message),
    JS_CFUNC_DEF("receiveMessage", 3, host_receive_message),
    JS_CFUNC_DEF("poll", 3, host_poll),
    JS_CFUNC_DEF("connect", 1, host_connect),
    JS_CFUNC_DEF("connectDatagram", 1, host_connect_datagram),
    JS_CFUNC_DEF("bindDatagram", 1, host_bind_datagram),
    JS_CFUNC_DEF("receive", 2, host_receive),
    JS_CFUNC_DEF("monotonic", 0, host_monotonic),
    JS_CFUNC_DEF("clock", 0, host_clock),
    JS_CFUNC_DEF("usage", 0, host_usage),
    JS_CFUNC_DEF("replaceExports", 1, host_replace_exports),
    JS_CFUNC_DEF("strerror", 1, host_strerror),
    JS_CFUNC_DEF("errnoName", 1, host_errno_name_js),
    JS_PROP_STRING_DEF("seccompVersion", host_seccomp_version, JS_PROP_ENUMERABLE),
    JS_CFUNC_DEF("seccompCompile", 1, host_seccomp_compile),
    JS_CFUNC_DEF("compactFilter", 1, host_compact_filter),
    JS_CFUNC_DEF("sendDescriptor", 3, host_send_descriptor),
    JS_CFUNC_DEF("netlinkOpen", 1, host_netlink_open),
    JS_CFUNC_DEF("netlinkRequest", 2, host_netlink_request),
    JS_CFUNC_DEF("eventfd", 0, host_eventfd),
    JS_CFUNC_DEF("watchModified", 1, host_watch_modified),
    JS_CFUNC_DEF("drain", 1, host_drain),
    JS_CFUNC_DEF("bpfLoadDeviceProgram", 1, host_bpf_load_device_program),
    JS_CFUNC_DEF("bpfAttachDevice", 4, host_bpf_attach_device),
    JS_CFUNC_DEF("bpfDetachDevice", 2, host_bpf_detach_device),
    JS_CFUNC_DEF("bpfQueryDevice", 1, host_bpf_query_device),
};

static HOST_FUNCTION(host_replace_exports) {
    (void)this_value;
    return host_replace_functions(ctx, host_own_module(), exports, ARRAY_LENGTH(exports), host_arg(argc, argv, 0));
}

static int fill(JSContext *ctx, JSModuleDef *module) {
    return JS_SetModuleExportList(ctx, module, WITH_POINTS(exports), ARRAY_LENGTH(exports));
}

JSModuleDef *host_new_module(JSContext *ctx) {
    JSModuleDef *module = JS_NewCModule(ctx, "runt:host", fill);
    if (module) JS_AddModuleExportList(ctx, module, WITH_POINTS(exports), ARRAY_LENGTH(exports));
    return module;
}
