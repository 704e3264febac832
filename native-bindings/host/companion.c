/* Start a program that this process serves, with descriptors and a user of its own. It ends when this process does. */
#include "arguments.h"
#include "error.h"
#include "spawn.h"

HOST_CALL(host_spawn_companion, "sSSII?i") {
    if (a[3].ints.count != 3) return JS_ThrowRangeError(ctx, "three descriptors");
    struct spawn_request request = {
        .program_fd = -1,
        .path = a[0].text,
        .argv = a[1].strings.items,
        .envp = a[2].strings.items,
        .stdio = a[3].ints.items,
        .inherit = a[4].ints.items,
        .inherit_count = a[4].ints.count,
        .die_with_parent = true,
        .has_user = a[5].is_given,
        .user = a[5].number,
    };
    const char *call = NULL;
    pid_t pid = host_spawn(&request, &call);
    return pid < 0 ? host_throw(ctx, errno, call, a[0].text) : JS_NewInt32(ctx, pid);
}
