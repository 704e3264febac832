/* Run a program to its end (hooks and tools), or beside this one (criu). */
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

static JSValue run(JSContext *ctx, struct spawn_request *request, const struct bytes *input, int timeout_ms, size_t limit) {
    struct child child = { .poll = poll_for, .now = now, .output = { { .limit = limit }, { .limit = limit } } };
    int stdio[CHILD_STDIO];
    JSValue result = JS_EXCEPTION;
    child.parts[0] = (struct child_part){ (const char *)input->data, input->length };
    if (!map_outputs(ctx, &child)) goto done;
    long error = child_pipes(&child, stdio);
    if (error < 0) {
        result = host_throw(ctx, (int)-error, "pipe", request->path);
        goto done;
    }
    const char *call;
    request->stdio = stdio;
    child.pid = host_spawn(request, &call);
    for (int i = 0; i < CHILD_STDIO; i++) host_discard(stdio[i]);
    result = child.pid < 0 ? host_throw(ctx, errno, call, request->path) : serve(ctx, &child, timeout_ms);
    child_close(&child);
done:
    for (int i = 0; i < 2; i++)
        if (child.output[i].text) munmap(child.output[i].text, limit);
    return result;
}

HOST_CALL(host_run_program, "sS?Sbiis") {
    const int limit = a[5].is_given ? a[5].number : DEFAULT_OUTPUT_LIMIT;
    if (limit <= 0) return JS_ThrowRangeError(ctx, "not a size");
    struct spawn_request request = {
        .program_fd = -1,
        .path = a[0].text,
        .argv = a[1].strings.items,
        .envp = a[2].is_given ? a[2].strings.items : environ,
        .cwd = a[6].text,
    };
    return run(ctx, &request, &a[3].bytes, a[4].number, (size_t)limit);
}

HOST_CALL(host_spawn_peer, "sSI?S") {
    /* criu outlives this process: if it is killed during its work, it leaves its code in the processes that it dumps. */
    const struct spawn_request request = {
        .program_fd = -1,
        .path = a[0].text,
        .argv = a[1].strings.items,
        .envp = a[3].is_given ? a[3].strings.items : environ,
        .inherit = a[2].ints.items,
        .inherit_count = a[2].ints.count,
    };
    const char *call = NULL;
    return host_number(ctx, host_spawn(&request, &call), call, a[0].text);
}
