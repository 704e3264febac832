/* State and start time of processes, of proc_pid_stat(5). */
#include "proc_stat.h"

#include "arguments.h"
#include "error.h"
#include "function.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROC "/proc/"
#define STAT "/stat"
#define MOST_DIGITS 20
/* Who asks for many, walks to /proc no more often than this. */
#define FEW 8
/* PID_MAX_LIMIT of the kernel (proc_sys_kernel(5), pid_max). */
#define HIGHEST_PID (1 << 22)

/* openat(2): musl's open(2) sets close-on-exec once more, by a call of its own. */
static int open_stat(const char *pid, size_t length) {
    static int proc = -1, calls;
    char path[sizeof(PROC) + MOST_DIGITS + sizeof(STAT)] = PROC;
    if (length > MOST_DIGITS) {
        errno = ENOENT;
        return -1;
    }
    if (++calls == FEW) proc = openat(AT_FDCWD, PROC, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *name = path + sizeof(PROC) - 1;
    memcpy(name, pid, length);
    memcpy(name + length, STAT, sizeof(STAT));
    return openat(proc < 0 ? AT_FDCWD : proc, proc < 0 ? path : name, O_RDONLY | O_CLOEXEC);
}

int host_process_stat(const char *pid, size_t length, struct process_stat *stat, const char **call) {
    /* Longer than any such line. */
    static char line[4096];
    int fd = open_stat(pid, length);
    *call = "open";
    /* ESRCH: it ended while its directory was being walked. Without a /proc no process is there, nor gone. */
    if (fd < 0) return errno == ESRCH || (errno == ENOENT && access("/proc/self/stat", F_OK) == 0) ? 0 : -1;
    ssize_t got;
    do got = read(fd, line, sizeof(line) - 1);
    while (got < 0 && errno == EINTR);
    host_discard(fd);
    *call = "read";
    if (got < 0) return errno == ESRCH ? 0 : -1;
    line[got] = 0;
    errno = EINVAL;
    return process_stat_parse(line, stat) ? 1 : -1;
}

struct decimal {
    char text[MOST_DIGITS + 1];
};

/* Without printf(3), which takes longer than the system call that the number is for. */
static const char *decimal(struct decimal *out, unsigned number) {
    char *at = out->text + sizeof(out->text) - 1;
    *at = 0;
    do *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    return at;
}

/* 1: there it is; 0: there is none; -1: an exception is pending. */
static int stat_of(JSContext *ctx, int pid, struct process_stat *stat) {
    struct decimal number;
    const char *digits = decimal(&number, (unsigned)pid);
    const char *call;
    int found = host_process_stat(digits, strlen(digits), stat, &call);
    if (found < 0) {
        int error = errno;
        char path[sizeof(PROC) + MOST_DIGITS + sizeof(STAT)] = PROC;
        host_throw(ctx, error, call, strcat(strcat(path, digits), STAT));
    }
    return found;
}

HOST_CALL(host_proc_stat, "i") {
    struct process_stat stat;
    int found = stat_of(ctx, a[0].number, &stat);
    if (found <= 0) return found < 0 ? JS_EXCEPTION : JS_UNDEFINED;
    JSValue object = JS_NewObject(ctx);
    host_set(ctx, object, "state", JS_NewStringLen(ctx, &stat.state, 1));
    host_set(ctx, object, "startTime", JS_NewBigUint64(ctx, strtoull(stat.start_time, NULL, 10)));
    return object;
}

HOST_CALL(host_running_state, "vv") {
    struct process_stat stat;
    double number;
    if (JS_ToFloat64(ctx, &number, a[0].value) < 0) return JS_EXCEPTION;
    if (!(number > 0 && number <= HIGHEST_PID)) return JS_UNDEFINED;
    int found = stat_of(ctx, (int)number, &stat);
    if (found <= 0) return found < 0 ? JS_EXCEPTION : JS_UNDEFINED;
    if (process_is_dead(&stat)) return JS_UNDEFINED;
    size_t length;
    const char *wanted = JS_ToCStringLen(ctx, &length, a[1].value);
    if (!wanted) return JS_EXCEPTION;
    bool is_same = length == stat.start_time_length && memcmp(wanted, stat.start_time, length) == 0;
    JS_FreeCString(ctx, wanted);
    return is_same ? JS_NewStringLen(ctx, &stat.waits_as, 1) : JS_UNDEFINED;
}
