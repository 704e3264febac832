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

HOST_FUNCTION(host_bpf_load_device_program) {
    size_t length;
    const uint8_t *code = JS_GetArrayBuffer(ctx, &length, host_arg(argc, argv, 0));
    if (!code) return JS_EXCEPTION;
    if (length == 0 || length % sizeof(struct bpf_insn) != 0) return host_throw(ctx, EINVAL, "bpf", NULL);
    int fd = load_with_memlock(code, length);
    if (fd >= 0) return JS_NewInt32(ctx, fd);
    int error = errno;
    /* Load it once more, to get the message of the verifier. */
    static char log[LOG_SIZE];
    fd = load(code, length, log, sizeof(log));
    if (fd >= 0) return JS_NewInt32(ctx, fd);
    return host_throw(ctx, error, "bpf", log[0] ? log : NULL);
}

HOST_FUNCTION(host_bpf_attach_device) {
    int cgroup, program, replaced;
    uint32_t flags;
    if (!host_int(ctx, host_arg(argc, argv, 0), &cgroup) || !host_int(ctx, host_arg(argc, argv, 1), &program) ||
        !host_u32(ctx, host_arg(argc, argv, 2), &flags) || !host_int(ctx, host_arg(argc, argv, 3), &replaced))
        return JS_EXCEPTION;
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.target_fd = (uint32_t)cgroup;
    attributes.attach_bpf_fd = (uint32_t)program;
    attributes.attach_type = BPF_CGROUP_DEVICE;
    attributes.attach_flags = flags;
    if (replaced >= 0) attributes.replace_bpf_fd = (uint32_t)replaced;
    return bpf(BPF_PROG_ATTACH, &attributes) < 0 ? host_throw(ctx, errno, "bpf", NULL) : JS_UNDEFINED;
}

HOST_FUNCTION(host_bpf_detach_device) {
    int cgroup, program;
    if (!host_int(ctx, host_arg(argc, argv, 0), &cgroup) || !host_int(ctx, host_arg(argc, argv, 1), &program)) return JS_EXCEPTION;
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.target_fd = (uint32_t)cgroup;
    attributes.attach_bpf_fd = (uint32_t)program;
    attributes.attach_type = BPF_CGROUP_DEVICE;
    return bpf(BPF_PROG_DETACH, &attributes) < 0 ? host_throw(ctx, errno, "bpf", NULL) : JS_UNDEFINED;
}

HOST_FUNCTION(host_bpf_query_device) {
    int cgroup;
    uint32_t ids[QUERY_LIMIT];
    union bpf_attr attributes;
    if (!host_int(ctx, host_arg(argc, argv, 0), &cgroup)) return JS_EXCEPTION;
    memset(&attributes, 0, sizeof(attributes));
    attributes.query.target_fd = (uint32_t)cgroup;
    attributes.query.attach_type = BPF_CGROUP_DEVICE;
    attributes.query.prog_cnt = QUERY_LIMIT;
    attributes.query.prog_ids = (uint64_t)(uintptr_t)ids;
    if (bpf(BPF_PROG_QUERY, &attributes) < 0) return host_throw(ctx, errno, "bpf", NULL);
    uint32_t count = attributes.query.prog_cnt < QUERY_LIMIT ? attributes.query.prog_cnt : QUERY_LIMIT;
    JSValue list = JS_NewArray(ctx);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        union bpf_attr wanted;
        memset(&wanted, 0, sizeof(wanted));
        wanted.prog_id = ids[i];
        int fd = bpf(BPF_PROG_GET_FD_BY_ID, &wanted);
        /* It was detached and freed meanwhile. */
        if (fd < 0 && errno == ENOENT) continue;
        if (fd < 0) {
            int error = errno;
            JS_FreeValue(ctx, list);
            return host_throw(ctx, error, "bpf", NULL);
        }
        JS_DefinePropertyValueUint32(ctx, list, kept++, JS_NewInt32(ctx, fd), JS_PROP_C_W_E);
    }
    return list;
}
