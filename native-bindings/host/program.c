/* Run a program to its end: hooks and tools. */
#include "../shared/child.h"
#include "../shared/signal.h"
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "spawn.h"
#include "wait.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_OUTPUT_LIMIT (64 << 10)
#define NANOSECONDS_PER_MS 1000000

static int64_t now(void) { return host_monotonic_ms() * NANOSECONDS_PER_MS; }

static int poll_for(struct pollfd *fds, unsigned count, int64_t nanoseconds) {
    int64_t milliseconds = nanoseconds < 0 ? -1 : nanoseconds / NANOSECONDS_PER_MS;
    int ready = host_poll_until(fds, count, milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds);
    return ready < 0 ? -errno : ready;
}

static void set_signal(JSContext *ctx, JSValue object, int number) {
    char name[32];
    struct buffer out = BUFFER(name);
    put_signal(&out, (unsigned)number);
    host_set(ctx, object, "signal", JS_NewString(ctx, name));
}

static JSValue result_value(JSContext *ctx, const struct child *child, int status, bool timed_out) {
    static const char *const names[] = { "stdout", "stderr" };
    JSValue object = JS_NewObject(ctx);
    host_set(ctx, object, "status", JS_NewInt32(ctx, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)));
    if (WIFSIGNALED(status)) set_signal(ctx, object, WTERMSIG(status));
    host_set(ctx, object, "timedOut", JS_NewBool(ctx, timed_out));
    for (int i = 0; i < 2; i++) host_set(ctx, object, names[i], JS_NewStringLen(ctx, child->output[i].text, child->output[i].used));
    return object;
}

/* Mapped: only what is written costs memory. */
static bool map_outputs(JSContext *ctx, struct child *child) {
    for (int i = 0; i < 2; i++) {
        struct child_output *output = &child->output[i];
        void *mapped = mmap(NULL, output->limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) {
            host_throw(ctx, errno, "mmap", NULL);
            return false;
        }
        output->text = mapped;
    }
    return true;
}

static JSValue serve(JSContext *ctx, struct child *child, int timeout_ms) {
    int status;
    child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
    enum child_end end = child_serve(child, timeout_ms < 0 ? -1 : (int64_t)timeout_ms * NANOSECONDS_PER_MS, &status);
    return end == CHILD_INTERRUPTED ? host_throw(ctx, EINTR, "poll", NULL) : result_value(ctx, child, status, end == CHILD_TIMED_OUT);
}

static JSValue run_program(JSContext *ctx, struct spawn_request *request, JSValueConst input, int timeout_ms, size_t limit) {
    struct child child = { .poll = poll_for, .now = now, .output = { { .limit = limit }, { .limit = limit } } };
    struct bytes bytes;
    int stdio[CHILD_STDIO];
    JSValue result = JS_EXCEPTION;
    if (!host_bytes(ctx, input, &bytes)) return JS_EXCEPTION;
    child.parts[0] = (struct child_part){ (const char *)bytes.data, bytes.length };
    if (!map_outputs(ctx, &child)) goto done;
    long error = child_pipes(&child, stdio);
    if (error < 0) {
        result = host_throw(ctx, (int)-error, "pipe", request->path);
        goto done;
    }
    const char *call;
    request->stdio = stdio;
    child.pid = host_spawn(request, &call);
    error = errno;
    for (int i = 0; i < CHILD_STDIO; i++) close(stdio[i]);
    result = child.pid < 0 ? host_throw(ctx, (int)error, call, request->path) : serve(ctx, &child, timeout_ms);
    child_close(&child);
done:
    for (int i = 0; i < 2; i++)
        if (child.output[i].text) munmap(child.output[i].text, limit);
    host_free_bytes(ctx, &bytes);
    return result;
}

HOST_FUNCTION(host_run_program) {
    int timeout_ms, limit = DEFAULT_OUTPUT_LIMIT;
    struct string_vector args, env = { 0 };
    if (!host_int(ctx, host_arg(argc, argv, 4), &timeout_ms)) return JS_EXCEPTION;
    if (!JS_IsUndefined(host_arg(argc, argv, 5)) && !host_int(ctx, host_arg(argc, argv, 5), &limit)) return JS_EXCEPTION;
    if (limit <= 0) return JS_ThrowRangeError(ctx, "not a size");
    bool has_env = !JS_IsUndefined(host_arg(argc, argv, 2)), has_cwd = !JS_IsUndefined(host_arg(argc, argv, 6));
    const char *path = host_text(ctx, host_arg(argc, argv, 0)), *cwd = NULL;
    if (!path) return JS_EXCEPTION;
    JSValue result = JS_EXCEPTION;
    if (has_cwd && !(cwd = host_text(ctx, host_arg(argc, argv, 6)))) goto done;
    if (host_strings(ctx, host_arg(argc, argv, 1), 0, &args)) {
        if (!has_env || host_strings(ctx, host_arg(argc, argv, 2), 0, &env)) {
            struct spawn_request request = {
                .program_fd = -1, .path = path, .argv = args.items, .envp = has_env ? env.items : environ, .cwd = cwd
            };
            result = run_program(ctx, &request, host_arg(argc, argv, 3), timeout_ms, (size_t)limit);
            if (has_env) host_free_strings(ctx, 0, &env);
        }
        host_free_strings(ctx, 0, &args);
    }
    if (cwd) JS_FreeCString(ctx, cwd);
done:
    JS_FreeCString(ctx, path);
    return result;
}
