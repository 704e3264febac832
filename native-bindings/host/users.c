/* Names of users, from /etc/passwd alone: no NSS. */
#include "arguments.h"
#include "files.h"
#include "function.h"
#include "text.h"

#include <fcntl.h>
#include <string.h>

#define PASSWD "/etc/passwd"

/* Whether the third field of the line is this text; *name_length: that of the first. */
static bool is_of(const char *line, const char *end, const char *uid, size_t uid_length, size_t *name_length) {
    const char *name_end = memchr(line, ':', (size_t)(end - line));
    if (!name_end) return false;
    *name_length = (size_t)(name_end - line);
    const char *password_end = memchr(name_end + 1, ':', (size_t)(end - name_end - 1));
    if (!password_end || (size_t)(end - password_end - 1) < uid_length || memcmp(password_end + 1, uid, uid_length) != 0) return false;
    const char *behind = password_end + 1 + uid_length;
    return behind == end || *behind == ':';
}

HOST_CALL(host_user_name, "s") {
    uint8_t *data;
    size_t length, name_length, found_length = 0;
    if (!host_read_whole(ctx, AT_FDCWD, PASSWD, false, &data, &length)) return JS_EXCEPTION;
    const char *uid = a[0].text, *end = (const char *)data + length, *found = NULL;
    for (const char *line = (const char *)data, *line_end; line < end; line = line_end + 1) {
        line_end = memchr(line, '\n', (size_t)(end - line));
        if (!line_end) line_end = end;
        if (!is_of(line, line_end, uid, strlen(uid), &name_length)) continue;
        found = line;
        found_length = name_length;
    }
    JSValue result = found ? host_utf8_string(ctx, (const uint8_t *)found, found_length, PASSWD) : JS_UNDEFINED;
    js_free(ctx, data);
    return result;
}
