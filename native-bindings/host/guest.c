/* What the first process of a machine asks of its kernel: modules, mounts, another root. */
#include "arguments.h"
#include "error.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

HOST_CALL(host_mount, "sssis") {
    const char *target = a[1].text;
    if (mount(a[0].text, target, a[2].text, (unsigned long)a[3].number, a[4].text) == 0) return JS_UNDEFINED;
    return host_throw(ctx, errno, "mount", target);
}

HOST_CALL(host_chroot, "s") { return chroot(a[0].text) < 0 ? host_throw(ctx, errno, "chroot", a[0].text) : JS_UNDEFINED; }

HOST_CALL(host_insert_module, "s") {
    JSValue result = JS_UNDEFINED;
    int fd = open(a[0].text, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return host_throw(ctx, errno, "open", a[0].text);
    /* A module that is part of this kernel already is no error. */
    if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST) result = host_throw(ctx, errno, "finit_module", a[0].text);
    close(fd);
    return result;
}
