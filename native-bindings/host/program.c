/* Run a program to its end: hooks and tools. */
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "spawn.h"
#include "wait.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_OUTPUT_LIMIT (64 << 10)
/* How long to sleep between two looks where pidfd_open(2) is refused. */
#define STEP_MS 5

struct output {
    int fd;
    size_t length, limit;
    /* Mapped: only what is written costs memory. */
    uint8_t *data;
};

struct run {
    pid_t pid;
    int pidfd;
    int input_fd;
    struct bytes input;
    size_t written;
    struct output output[2];
};

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void write_input(struct run *run) {
    if (run->written < run->input.length) {
        ssize_t put = write(run->input_fd, run->input.data + run->written, run->input.length - run->written);
        if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
        /* A program that does not read its input (EPIPE) is no error. */
        if (put < 0) run->written = run->input.length;
        else run->written += (size_t)put;
    }
    if (run->written == run->input.length) close_fd(&run->input_fd);
}

/* Read what is there; beyond the limit it is thrown away, so that the program never blocks. False at the end. */
static bool read_output(struct output *output) {
    uint8_t discarded[4096];
    bool full = output->length == output->limit;
    ssize_t got = full ? read(output->fd, discarded, sizeof(discarded))
                       : read(output->fd, output->data + output->length, output->limit - output->length);
    if (got < 0) return errno == EINTR;
    if (!full) output->length += (size_t)got;
    return got > 0;
}

static void drain(struct output *output) {
    if (output->fd < 0) return;
    while (output->length < output->limit && read_output(output)) continue;
}

enum outcome { ENDED, TIMED_OUT, INTERRUPTED };

/* Serve the pipes until the program ends. What it left running may hold the pipes: nobody waits for that.
 * When the time is over, or a signal ends this wait, it is killed. */
static enum outcome serve(struct run *run, int timeout_ms, int *status) {
    int64_t end = timeout_ms < 0 ? INT64_MAX : host_monotonic_ms() + timeout_ms;
    enum outcome outcome = ENDED;
    for (;;) {
        pid_t ended = waitpid(run->pid, status, WNOHANG);
        if (ended == run->pid || (ended < 0 && errno != EINTR)) return outcome;
        int64_t left = end == INT64_MAX ? -1 : end - host_monotonic_ms();
        if (end != INT64_MAX && left <= 0) {
            kill(run->pid, SIGKILL);
            outcome = TIMED_OUT;
            end = INT64_MAX;
            left = -1;
        }
        int wait = left > INT32_MAX ? INT32_MAX : (int)left;
        if (run->pidfd < 0 && (wait < 0 || wait > STEP_MS)) wait = STEP_MS;
        struct pollfd fds[4] = {
            { .fd = run->input_fd, .events = POLLOUT },
            { .fd = run->output[0].fd, .events = POLLIN },
            { .fd = run->output[1].fd, .events = POLLIN },
            { .fd = run->pidfd, .events = POLLIN },
        };
        int ready = host_poll_until(fds, ARRAY_LENGTH(fds), wait);
        if (ready < 0 && errno == EINTR) {
            kill(run->pid, SIGKILL);
            outcome = INTERRUPTED;
            end = INT64_MAX;
        }
        if (ready <= 0) continue;
        if (fds[0].revents) write_input(run);
        for (int i = 0; i < 2; i++)
            if (fds[i + 1].revents && !read_output(&run->output[i])) close_fd(&run->output[i].fd);
    }
}

static int make_pipes(int pipes[3][2]) {
    for (int i = 0; i < 3; i++) pipes[i][0] = pipes[i][1] = -1;
    for (int i = 0; i < 3; i++)
        if (pipe2(pipes[i], O_CLOEXEC) < 0) return -1;
    fcntl(pipes[0][1], F_SETFL, O_NONBLOCK);
    fcntl(pipes[1][0], F_SETFL, O_NONBLOCK);
    fcntl(pipes[2][0], F_SETFL, O_NONBLOCK);
    return 0;
}

/* As Go has it: "killed", where the C library says "Killed". */
static void set_signal(JSContext *ctx, JSValue object, int number) {
    char name[64];
    strncpy(name, strsignal(number), sizeof name - 1);
    name[sizeof name - 1] = 0;
    if (name[0] >= 'A' && name[0] <= 'Z' && !(name[1] >= 'A' && name[1] <= 'Z')) name[0] += 'a' - 'A';
    host_set(ctx, object, "signal", JS_NewString(ctx, name));
}

static JSValue result_value(JSContext *ctx, const struct run *run, int status, bool timed_out) {
    static const char *const names[] = { "stdout", "stderr" };
    JSValue object = JS_NewObject(ctx);
    host_set(ctx, object, "status", JS_NewInt32(ctx, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)));
    if (WIFSIGNALED(status)) set_signal(ctx, object, WTERMSIG(status));
    host_set(ctx, object, "timedOut", JS_NewBool(ctx, timed_out));
    for (int i = 0; i < 2; i++)
        host_set(ctx, object, names[i], JS_NewStringLen(ctx, (const char *)run->output[i].data, run->output[i].length));
    return object;
}

static bool map_outputs(JSContext *ctx, struct run *run) {
    for (int i = 0; i < 2; i++) {
        void *mapped = mmap(NULL, run->output[i].limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) {
            host_throw(ctx, errno, "mmap", NULL);
            return false;
        }
        run->output[i].data = mapped;
    }
    return true;
}

static JSValue run_program(JSContext *ctx, struct spawn_request *request, JSValueConst input, int timeout_ms, size_t limit) {
    struct run run = { .pidfd = -1, .input_fd = -1, .output = { { .fd = -1, .limit = limit }, { .fd = -1, .limit = limit } } };
    int pipes[3][2];
    const char *call = "pipe";
    JSValue result = JS_EXCEPTION;
    run.pid = -1;
    if (!host_bytes(ctx, input, &run.input)) return JS_EXCEPTION;
    if (!map_outputs(ctx, &run)) goto done;
    if (make_pipes(pipes) == 0) {
        int stdio[3] = { pipes[0][0], pipes[1][1], pipes[2][1] };
        request->stdio = stdio;
        run.pid = host_spawn(request, &call);
    }
    int error = errno;
    close_fd(&pipes[0][0]);
    close_fd(&pipes[1][1]);
    close_fd(&pipes[2][1]);
    run.input_fd = pipes[0][1];
    run.output[0].fd = pipes[1][0];
    run.output[1].fd = pipes[2][0];
    if (run.pid < 0) {
        result = host_throw(ctx, error, call, request->path);
    } else {
        int status = 0;
        run.pidfd = (int)syscall(SYS_pidfd_open, run.pid, 0);
        if (run.input.length == 0) close_fd(&run.input_fd);
        enum outcome outcome = serve(&run, timeout_ms, &status);
        drain(&run.output[0]);
        drain(&run.output[1]);
        result = outcome == INTERRUPTED ? host_throw(ctx, EINTR, "poll", NULL) : result_value(ctx, &run, status, outcome == TIMED_OUT);
    }
    close_fd(&run.pidfd);
    close_fd(&run.input_fd);
    close_fd(&run.output[0].fd);
    close_fd(&run.output[1].fd);
done:
    for (int i = 0; i < 2; i++)
        if (run.output[i].data) munmap(run.output[i].data, limit);
    host_free_bytes(ctx, &run.input);
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
