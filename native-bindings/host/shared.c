/* Memory that others may read while it changes: in which operation a plan is (src/shared/protocol/page.ts), the times of a trace. */
#include "arguments.h"
#include "error.h"
#include "function.h"
#include "memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

/* The size is sealed where it can be: a store into the page must never fault. */
static int make_pages(const char *name, size_t size) {
    int fd = memory_file(name, 0);
    if (fd < 0) return -1;
    if (ftruncate(fd, (off_t)size) == 0 && memory_file_seal(fd, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) == 0) return fd;
    return host_discard(fd);
}

/* It stays mapped until the program ends. */
HOST_CALL(host_shared_page, "s?i") {
    const size_t size = a[1].is_given ? a[1].bits : PAGE;
    int fd = make_pages(a[0].text, size);
    if (fd < 0) return host_throw(ctx, errno, "memfd_create", NULL);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) return host_done(ctx, host_discard(fd), "mmap", NULL);
    JSValue result = JS_NewObject(ctx);
    if (JS_IsException(result)) return result;
    host_set(ctx, result, "fd", JS_NewInt32(ctx, fd));
    host_set(ctx, result, "page", JS_NewArrayBuffer(ctx, page, size, NULL, NULL, false));
    return result;
}
