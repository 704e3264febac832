/* Start the embedded helper, or become it. */
#include "../shared/spin_wait.h"
#include "../testing/host_points.h"
#include "../testing/disabled_defences.h"
#include "arguments.h"
#include "error.h"
#include "executable.h"
#include "function.h"
#include "rendezvous.h"
#include "spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

extern char **environ;

struct helper_arguments {
    struct string_vector argv;
    struct int_vector inherit;
};

static bool read_arguments(JSContext *ctx, const struct argument *a, struct helper_arguments *out) {
    static char name[] = "runt-init";
    if (!host_strings(ctx, a[0].value, 1, &out->argv)) return false;
    out->argv.items[0] = name;
    if (host_ints(ctx, a[1].value, &out->inherit)) return true;
    host_free_strings(ctx, 1, &out->argv);
    return false;
}

static void free_arguments(JSContext *ctx, struct helper_arguments *arguments) {
    host_free_strings(ctx, 1, &arguments->argv);
    js_free(ctx, arguments->inherit.items);
}

/* Without `inherits` no environment: processes of the container may be able to read that of a waiting init, or of a process that joins them. */
static char **helper_environment(bool inherits) {
    static char *none[] = { NULL };
    return inherits || DEFENCE_DISABLED(helper_environment) ? environ : HOST_TESTING_ENVIRONMENT(none);
}

/* The sealed file of an earlier helper, used for the next one, too. Only an exec of this process closes it. */
static int kept = -1;
/* The file of the helper of the head start, which fills it: usable after that has executed it. */
static int filled = -1;

static int open_helper(enum helper_source source) {
    if (source != HELPER_SEALED_MEMFD || kept < 0) return helper_open(source);
    return fcntl(kept, F_DUPFD_CLOEXEC, 0);
}

static bool has_another_processor(void) {
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof(mine), &mine) == 0 && CPU_COUNT(&mine) > 1;
}

HOST_CALL(host_spawn_helper_early, "vv?A") {
    /* Both outlive this call: the child may still read them. */
    static struct helper_arguments arguments;
    static struct spawn_request request;
    if (!has_another_processor()) return JS_UNDEFINED;
    if (!read_arguments(ctx, a, &arguments)) return JS_EXCEPTION;
    request = (struct spawn_request){
        .argv = arguments.argv.items,
        .envp = helper_environment(false),
        .inherit = arguments.inherit.items,
        .inherit_count = arguments.inherit.count,
        .die_with_parent = true,
        .early = true,
        .page = host_page(&a[2]),
        .program_fd = DEFENCE_DISABLED(self_exe) ? helper_open(HELPER_SEALED_MEMFD) : helper_empty_memfd(),
        .fills = !DEFENCE_DISABLED(self_exe),
    };
    const char *call = "memfd_create";
    pid_t pid = request.program_fd < 0 ? -1 : host_spawn(&request, &call);
    if (pid < 0) return host_throw(ctx, errno, call, NULL);
    filled = request.program_fd;
    return JS_NewInt32(ctx, pid);
}

HOST_CALL(host_early_runs, "?A") {
    volatile uint32_t *page = host_page(&a[0]);
    if (!host_early_executes()) return JS_FALSE;
    kept = filled;
    if (page) page[PAGE_SPINS] = host_early_is_not_preempted();
    return JS_TRUE;
}

HOST_CALL(host_spawn_helper, "vv?io") {
    /* Both outlive this call: a child in a frozen cgroup reads them when that is thawed. */
    static struct helper_arguments arguments;
    static struct spawn_request request;
    if (!read_arguments(ctx, a, &arguments)) return JS_EXCEPTION;
    request = (struct spawn_request){
        .argv = arguments.argv.items,
        .envp = helper_environment(a[3].truth),
        .inherit = arguments.inherit.items,
        .inherit_count = arguments.inherit.count,
        .die_with_parent = true,
        .in_cgroup = a[2].is_given,
        .cgroup = a[2].number,
    };
    pid_t pid = -1;
    int first_error = 0;
    const char *first_call = NULL;
    for (int source = 0; source < HELPER_SOURCES && pid < 0; source++) {
        const char *call = "memfd_create";
        request.program_fd = open_helper((enum helper_source)source);
        if (request.program_fd >= 0) {
            pid = host_spawn(&request, &call);
            if (pid >= 0 && source == HELPER_SEALED_MEMFD && kept < 0) kept = request.program_fd;
            else host_discard(request.program_fd);
        }
        if (pid < 0 && !first_call) {
            first_error = errno;
            first_call = call;
        }
    }
    if (!request.in_cgroup) free_arguments(ctx, &arguments);
    return pid < 0 ? host_throw(ctx, first_error, first_call, NULL) : JS_NewInt32(ctx, pid);
}

HOST_CALL(host_exec_helper, "vv") {
    struct helper_arguments arguments;
    if (!read_arguments(ctx, a, &arguments)) return JS_EXCEPTION;
    int first_error = 0;
    for (uint32_t i = 0; i < arguments.inherit.count && !first_error; i++)
        if (fcntl(arguments.inherit.items[i], F_SETFD, 0) < 0) first_error = errno;
    if (!first_error) {
        host_reset_signals();
        for (int source = 0; source < HELPER_SOURCES; source++) {
            int fd = open_helper((enum helper_source)source);
            if (fd >= 0) host_execute(fd, arguments.argv.items, environ);
            if (!first_error) first_error = errno;
            if (fd >= 0) close(fd);
        }
        host_ignore_signals();
    }
    free_arguments(ctx, &arguments);
    return host_throw(ctx, first_error, "execveat", NULL);
}
