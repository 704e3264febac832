/* Reading one line of a kernel file, fast for many files in neighbouring directories. */
#include "arguments.h"
#include "error.h"
#include "files.h"
#include "function.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* No line of the files read here is longer. */
#define LONGEST_LINE 4096
/* From this number of neighbouring files on, the directory above them is kept open. */
#define NEIGHBOURS 3

/*
 * open(2) of A/B/C and then of A/D/C: when there are many, A is kept open. The path A may lead to another directory by then, so a file that is not
 * found in the open one is opened by its whole path.
 */
static int open_neighbour(const char *path) {
    static char above[PATH_MAX];
    static size_t length;
    static int directory = -1, calls;
    const char *name = strrchr(path, '/');
    while (name && name > path && *--name != '/') continue;
    if (!name || name == path || (size_t)(name - path) >= sizeof(above)) return host_open_retry(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    size_t here = (size_t)(name - path);
    if (here != length || memcmp(above, path, here) != 0) {
        memcpy(above, path, here);
        above[here] = 0;
        length = here;
        calls = 0;
        if (directory >= 0) close(directory);
        directory = -1;
    }
    if (++calls == NEIGHBOURS) directory = host_open_retry(AT_FDCWD, above, O_PATH | O_DIRECTORY, 0);
    int fd = directory < 0 ? -1 : host_open_retry(directory, name + 1, O_RDONLY | O_NONBLOCK, 0);
    return fd < 0 ? host_open_retry(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0) : fd;
}

ssize_t host_read_once(const char *path, void *buffer, size_t size, const char **call) {
    int fd = open_neighbour(path);
    *call = "open";
    if (fd < 0) return -1;
    *call = "read";
    ssize_t length;
    do length = read(fd, buffer, size);
    while (length < 0 && errno == EINTR);
    host_discard(fd);
    return length;
}

HOST_CALL(host_read_line, "s") {
    static uint8_t line[LONGEST_LINE];
    const char *call;
    ssize_t length = host_read_once(a[0].text, line, sizeof(line), &call);
    if (length < 0) return errno == ENOENT || errno == ENOTDIR || errno == ENODEV ? JS_UNDEFINED : host_throw(ctx, errno, call, a[0].text);
    const uint8_t *end = memchr(line, '\n', (size_t)length);
    return host_utf8_string(ctx, line, end ? (size_t)(end - line) : (size_t)length, a[0].text);
}
