/*
 * /proc/self/mountinfo, which takes the kernel some microseconds a mount, read by the helper's process before its execve: it shares this memory,
 * has its own processor, and would wait to be told what to make.
 */
#include "fetch.h"

#include "raw.h"
#include "spawn.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define MOUNTINFO "/proc/self/mountinfo"
/* Some fifty mounts. Of more this process reads what it needs itself: its child would come too late. */
#define MOST_FETCHED 4096
/* Longer than a child takes that has a processor. */
#define YIELDS 1000

static struct {
    char text[MOST_FETCHED];
    size_t length;
    enum { NOTHING, BEING_READ, WHOLE } state;
} fetched;

void host_expect_mounts(bool is_coming) {
    fetched.state = is_coming ? BEING_READ : NOTHING;
}

void host_fetch_mounts(void) {
    struct statfs tree;
    long length = -1, got = -1;
    /* Nobody asks for it where there is a tree of v2 alone. */
    bool is_wanted = raw_call(SYS_statfs, (long)"/sys/fs/cgroup", (long)&tree, 0, 0, 0) == 0 && tree.f_type != CGROUP2_SUPER_MAGIC;
    long fd = is_wanted ? raw_call(SYS_openat, AT_FDCWD, (long)MOUNTINFO, O_RDONLY | O_CLOEXEC, 0, 0) : -1;
    if (fd >= 0) {
        length = 0;
        while ((got = raw_call(SYS_read, fd, (long)fetched.text + length, MOST_FETCHED - length, 0, 0)) > 0) length += got;
        raw_call(SYS_close, fd, 0, 0, 0, 0);
    }
    fetched.length = (size_t)length;
    /* With a full buffer the last read says nothing of the end. */
    const bool is_whole = got == 0 && length > 0 && length < MOST_FETCHED;
    __atomic_store_n(&fetched.state, is_whole ? WHOLE : NOTHING, __ATOMIC_RELEASE);
}

bool host_has_fetched(const char *path, const char **text, size_t *length) {
    if (strcmp(path, MOUNTINFO) != 0) return false;
    for (unsigned i = 0; i < YIELDS && __atomic_load_n(&fetched.state, __ATOMIC_ACQUIRE) == BEING_READ && host_ahead_prepares(); i++) sched_yield();
    *text = fetched.text;
    *length = fetched.length;
    return __atomic_load_n(&fetched.state, __ATOMIC_ACQUIRE) == WHOLE;
}
