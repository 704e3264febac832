/* The module "runt:host": names and functions (contract: host.d.ts). */
#include "module.h"

#include "../host/arguments.h"
#include "../host/function.h"
#include "../host/seccomp.h"
#include "../testing/host_points.h"
#include "image.h"
#include "trace.h"

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

/* F(name, number of arguments, function) */
#define FUNCTIONS(F) \
    F("argv", 0, host_js_argv) \
    F("getenv", 1, host_getenv) \
    F("exit", 1, host_exit) \
    F("resource", 1, host_resource) \
    F("utf8Encode", 1, host_utf8_encode) \
    F("utf8Decode", 1, host_utf8_decode) \
    F("packPlan", 6, host_pack_plan) \
    F("findNext", 4, host_find_next) \
    F("sha256", 1, host_sha256) \
    F("needsExactParser", 1, host_needs_exact_parser) \
    F("readFile", 1, host_read_file) \
    F("readFd", 1, host_read_fd) \
    F("readMembers", 4, host_read_members) \
    F("readLine", 1, host_read_line) \
    F("readBytes", 2, host_read_bytes) \
    F("readOwn", 2, host_read_own) \
    F("writeFile", 4, host_write_file) \
    F("writeControl", 2, host_write_control) \
    F("open", 2, host_open) \
    F("openat", 3, host_openat) \
    F("openInRoot", 3, host_open_in_root) \
    F("pread", 3, host_pread) \
    F("close", 1, host_close) \
    F("write", 2, host_write) \
    F("addRow", 6, host_add_row) \
    F("writeRows", 2, host_write_rows) \
    F("addContainers", 7, host_add_containers) \
    F("stat", 1, host_stat) \
    F("lstat", 1, host_lstat) \
    F("fstat", 1, host_fstat) \
    F("standardStreams", 1, host_standard_streams) \
    F("statfsType", 1, host_statfs_type) \
    F("access", 2, host_access) \
    F("mkdir", 2, host_mkdir) \
    F("tryMkdir", 2, host_try_mkdir) \
    F("rmdir", 1, host_rmdir) \
    F("unlink", 1, host_unlink) \
    F("rename", 2, host_rename) \
    F("link", 2, host_link) \
    F("symlink", 2, host_symlink) \
    F("mkfifo", 2, host_mkfifo) \
    F("chmod", 2, host_chmod) \
    F("chown", 3, host_chown) \
    F("fsync", 1, host_fsync) \
    F("readdir", 1, host_readdir) \
    F("readlink", 1, host_readlink) \
    F("realpath", 1, host_realpath) \
    F("cwd", 0, host_cwd) \
    F("chdir", 1, host_chdir) \
    F("umask", 1, host_umask) \
    F("flock", 3, host_flock) \
    F("setxattr", 3, host_setxattr) \
    F("getxattr", 2, host_getxattr) \
    F("isatty", 1, host_isatty) \
    F("closeOnExecFrom", 1, host_close_on_exec_from) \
    F("fdIsOpen", 1, host_fd_is_open) \
    F("windowSize", 1, host_window_size) \
    F("getpid", 0, host_getpid) \
    F("getppid", 0, host_getppid) \
    F("geteuid", 0, host_geteuid) \
    F("getegid", 0, host_getegid) \
    F("kill", 2, host_kill) \
    F("pidfdOpen", 1, host_pidfd_open) \
    F("pidfdSendSignal", 2, host_pidfd_send_signal) \
    F("procStat", 1, host_proc_stat) \
    F("runningState", 2, host_running_state) \
    F("userName", 1, host_user_name) \
    F("waitpid", 2, host_waitpid) \
    F("blockSignals", 0, host_block_signals) \
    F("unblockSignals", 0, host_unblock_signals) \
    F("endWaitsBySignal", 1, host_end_waits_by_signal) \
    F("endingSignal", 0, host_ending_signal) \
    F("setChildSubreaper", 1, host_set_child_subreaper) \
    F("prlimit", 4, host_prlimit) \
    F("now", 0, host_now) \
    F("sleep", 1, host_sleep) \
    F("effectiveCapabilities", 0, host_effective_capabilities) \
    F("kernelRelease", 0, host_kernel_release) \
    F("spawnHelper", 3, host_spawn_helper) \
    F("spawnHelperEarly", 3, host_spawn_helper_early) \
    F("helperEarlyRuns", 1, host_early_runs) \
    F("execHelper", 2, host_exec_helper) \
    F("runProgram", 7, host_run_program) \
    F("detach", 0, host_detach) \
    F("enterOwnMounts", 1, host_enter_own_mounts) \
    F("leaveOwnMounts", 1, host_leave_own_mounts) \
    F("makeRootReadonly", 1, host_make_root_readonly) \
    F("cloneMount", 1, host_clone_mount) \
    F("attachMount", 2, host_attach_mount) \
    F("mountIds", 1, host_mount_ids) \
    F("detachMount", 1, host_detach_mount) \
    F("spawnPeer", 4, host_spawn_peer) \
    F("receivePacket", 1, host_receive_packet_js) \
    F("memfd", 2, host_memfd) \
    F("sharedPage", 2, host_shared_page) \
    F("socketpair", 0, host_socketpair) \
    F("sendMessage", 4, host_send_message) \
    F("receiveMessage", 3, host_receive_message) \
    F("poll", 3, host_poll) \
    F("connect", 1, host_connect) \
    F("connectDatagram", 1, host_connect_datagram) \
    F("bindDatagram", 1, host_bind_datagram) \
    F("peerCredentials", 1, host_peer_credentials) \
    F("receive", 2, host_receive) \
    F("monotonic", 0, host_monotonic) \
    F("clock", 0, host_clock) \
    F("usage", 0, host_usage) \
    F("replaceExports", 1, host_replace_exports) \
    F("strerror", 1, host_strerror) \
    F("errnoName", 1, host_errno_name_js) \
    F("seccompCompile", 1, host_seccomp_compile) \
    F("sendDescriptor", 3, host_send_descriptor) \
    F("sendDatagram", 3, host_send_datagram) \
    F("netlinkOpen", 1, host_netlink_open) \
    F("netlinkReceive", 1, host_netlink_receive) \
    F("eventfd", 0, host_eventfd) \
    F("watchModified", 1, host_watch_modified) \
    F("drain", 1, host_drain) \
    F("bpfLoadDeviceProgram", 1, host_bpf_load_device_program) \
    F("bpfAttachDevice", 4, host_bpf_attach_device) \
    F("bpfDetachDevice", 2, host_bpf_detach_device) \
    F("bpfQueryDevice", 1, host_bpf_query_device) \
    F("mount", 5, host_mount) \
    F("chroot", 1, host_chroot) \
    F("insertModule", 1, host_insert_module) \
    F("pipe", 0, host_pipe) \
    F("streamPair", 0, host_stream_pair) \
    F("setNonBlocking", 1, host_set_non_blocking) \
    F("readSome", 2, host_read_some) \
    F("writeSome", 4, host_write_some) \
    F("signalDescriptor", 0, host_signal_descriptor) \
    F("nextSignal", 1, host_next_signal) \
    F("listen", 1, host_listen) \
    F("accept", 1, host_accept) \
    F("makeRaw", 1, host_make_raw) \
    F("setWindowSize", 3, host_set_window_size) \
    F("spawnCompanion", 6, host_spawn_companion) \
    F("limitCapabilities", 1, host_limit_capabilities) \
    F("installFilter", 1, host_install_filter)

#define DECLARE(name, count, function) HOST_FUNCTION_IS(function);
FUNCTIONS(DECLARE)

#define EXPORT(name, count, function) JS_CFUNC_DEF(name, count, function),
static const JSCFunctionListEntry exports[] = { JS_PROP_STRING_DEF("architecture", ARCHITECTURE, JS_PROP_ENUMERABLE),
                                                JS_PROP_STRING_DEF("seccompVersion", host_seccomp_version, JS_PROP_ENUMERABLE),
                                                JS_OBJECT_DEF("build", build_fields, ARRAY_LENGTH(build_fields), JS_PROP_ENUMERABLE),
                                                FUNCTIONS(EXPORT) };

HOST_FUNCTION(host_replace_exports) {
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
