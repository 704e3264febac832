/* What this process may do from now on: its capabilities, and its system calls. Neither comes back. */
#include "arguments.h"
#include "error.h"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITIES_MAX 64
#define BPF_INSTRUCTION ((size_t)8)

/* All sets of capabilities(7). Those of the mask that this process does not have are not given to it. */
HOST_CALL(host_limit_capabilities, "q") {
    uint64_t kept = a[0].wide;
    for (unsigned capability = 0; capability < CAPABILITIES_MAX; capability++) {
        if ((kept >> capability & 1) != 0) continue;
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) continue;
        /* The number is above the last capability that this kernel knows. */
        if (errno == EINVAL) break;
        return host_throw(ctx, errno, "prctl", "PR_CAPBSET_DROP");
    }
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0) return host_throw(ctx, errno, "capget", "");
    for (unsigned half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
        uint32_t mask = (uint32_t)(kept >> 32 * half);
        data[half].permitted &= mask;
        data[half].effective &= mask;
        /* The ambient set shrinks with it. */
        data[half].inheritable = 0;
    }
    return syscall(SYS_capset, &header, data) == 0 ? JS_UNDEFINED : host_throw(ctx, errno, "capset", "");
}

HOST_CALL(host_install_filter, "A") {
    const struct sock_fprog program = {
        .len = (unsigned short)(a[0].bytes.length / BPF_INSTRUCTION),
        .filter = (struct sock_filter *)(uintptr_t)a[0].bytes.data,
    };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return host_throw(ctx, errno, "prctl", "PR_SET_NO_NEW_PRIVS");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return host_throw(ctx, errno, "seccomp", "");
    return JS_UNDEFINED;
}
