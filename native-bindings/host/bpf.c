/* bpf(2) for the device programs of cgroup v2. */
#include "arguments.h"
#include "error.h"
#include "function.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_SIZE 8192
#define QUERY_LIMIT 64 /* BPF_CGROUP_MAX_PROGS of the kernel */

static int bpf(enum bpf_cmd command, union bpf_attr *attributes) {
    long result;
    do result = syscall(SYS_bpf, command, attributes, sizeof(*attributes));
    while (result < 0 && errno == EINTR);
    return (int)result;
}

static int load(const uint8_t *code, size_t length, char *log, size_t log_size) {
    static const char license[] = "Apache-2.0";
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attributes.insns = (uint64_t)(uintptr_t)code;
    attributes.insn_cnt = (uint32_t)(length / sizeof(struct bpf_insn));
    attributes.license = (uint64_t)(uintptr_t)license;
    attributes.log_buf = (uint64_t)(uintptr_t)log;
    attributes.log_size = (uint32_t)log_size;
    attributes.log_level = log ? 1 : 0;
    return bpf(BPF_PROG_LOAD, &attributes);
}

/* Before Linux 5.11 the memory of programs counts against RLIMIT_MEMLOCK, and the answer is EPERM. */
static int load_with_memlock(const uint8_t *code, size_t length) {
    int fd = load(code, length, NULL, 0);
    if (fd >= 0 || errno != EPERM) return fd;
    struct rlimit before, unlimited = { RLIM_INFINITY, RLIM_INFINITY };
    if (getrlimit(RLIMIT_MEMLOCK, &before) < 0 || setrlimit(RLIMIT_MEMLOCK, &unlimited) < 0) {
        errno = EPERM;
        return -1;
    }
    fd = load(code, length, NULL, 0);
    int error = errno;
    setrlimit(RLIMIT_MEMLOCK, &before);
    errno = error;
    return fd;
}

HOST_CALL(host_bpf_load_device_program, "A") {
    const uint8_t *code = a[0].bytes.data;
    const size_t length = a[0].bytes.length;
    if (length == 0 || length % sizeof(struct bpf_insn) != 0) return host_throw(ctx, EINVAL, "bpf", NULL);
    int fd = load_with_memlock(code, length);
    if (fd >= 0) return JS_NewInt32(ctx, fd);
    int error = errno;
    /* Load it once more, to get the message of the verifier. */
    static char log[LOG_SIZE];
    fd = load(code, length, log, sizeof(log));
    return fd >= 0 ? JS_NewInt32(ctx, fd) : host_throw(ctx, error, "bpf", log[0] ? log : NULL);
}

static JSValue change(JSContext *ctx, enum bpf_cmd command, int cgroup, int program, uint32_t flags, int replaced) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.target_fd = (uint32_t)cgroup;
    attributes.attach_bpf_fd = (uint32_t)program;
    attributes.attach_type = BPF_CGROUP_DEVICE;
    attributes.attach_flags = flags;
    if (replaced >= 0) attributes.replace_bpf_fd = (uint32_t)replaced;
    return host_done(ctx, bpf(command, &attributes), "bpf", NULL);
}

HOST_CALL(host_bpf_attach_device, "iiii") { return change(ctx, BPF_PROG_ATTACH, a[0].number, a[1].number, a[2].bits, a[3].number); }

HOST_CALL(host_bpf_detach_device, "ii") { return change(ctx, BPF_PROG_DETACH, a[0].number, a[1].number, 0, -1); }

HOST_CALL(host_bpf_query_device, "i") {
    uint32_t ids[QUERY_LIMIT];
    int fds[QUERY_LIMIT];
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.query.target_fd = a[0].bits;
    attributes.query.attach_type = BPF_CGROUP_DEVICE;
    attributes.query.prog_cnt = QUERY_LIMIT;
    attributes.query.prog_ids = (uint64_t)(uintptr_t)ids;
    if (bpf(BPF_PROG_QUERY, &attributes) < 0) return host_throw(ctx, errno, "bpf", NULL);
    const uint32_t count = attributes.query.prog_cnt < QUERY_LIMIT ? attributes.query.prog_cnt : QUERY_LIMIT;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        union bpf_attr wanted;
        memset(&wanted, 0, sizeof(wanted));
        wanted.prog_id = ids[i];
        fds[kept] = bpf(BPF_PROG_GET_FD_BY_ID, &wanted);
        if (fds[kept] >= 0) kept++;
        /* ENOENT: it was detached and freed meanwhile. */
        else if (errno != ENOENT) return host_throw(ctx, errno, "bpf", NULL);
    }
    return host_numbers(ctx, fds, kept);
}
