// A file system (FUSE) that behaves as resctrl does where somebody makes, fills and joins groups (Documentation/filesystems/resctrl.rst):
// a new group comes with its files, a schema is merged into the others, a process is in one group, a group goes with everything in it.
// Usage: resctrl DIRECTORY LOG; mounts itself there, writes what is changed into LOG ("mkdir PATH", "rmdir PATH", "write PATH TEXT"),
// and ends when it is unmounted.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROOT 1
#define NODES 512
#define BUFFER (1 << 17)
#define DIRECTORY_MODE (S_IFDIR | 0755)
#define FILE_MODE (S_IFREG | 0644)

// The number of a node is its place; a mode of 0: there is none.
static struct node {
    unsigned parent;
    mode_t mode;
    char name[256];
    char text[2048];
} nodes[NODES];

static int device;
static FILE *history;

static unsigned find(unsigned parent, const char *name)
{
    for (unsigned i = ROOT + 1; i < NODES; i++)
        if (nodes[i].mode && nodes[i].parent == parent && !strcmp(nodes[i].name, name))
            return i;
    return 0;
}

static unsigned add(unsigned parent, const char *name, mode_t mode, const char *text)
{
    for (unsigned i = ROOT + 1; i < NODES; i++) {
        if (nodes[i].mode)
            continue;
        nodes[i] = (struct node){.parent = parent, .mode = mode};
        snprintf(nodes[i].name, sizeof nodes[i].name, "%s", name);
        snprintf(nodes[i].text, sizeof nodes[i].text, "%s", text);
        return i;
    }
    abort();
}

static void remove_tree(unsigned node)
{
    for (unsigned i = ROOT + 1; i < NODES; i++)
        if (nodes[i].mode && nodes[i].parent == node)
            remove_tree(i);
    nodes[node].mode = 0;
}

// What the kernel puts into a group; the schemata are those of the whole machine.
static void fill(unsigned group, int monitors)
{
    add(group, "tasks", FILE_MODE, "");
    if (!monitors)
        return;
    add(group, "schemata", FILE_MODE, "    MB:0=100;1=100\n    L3:0=fff;1=fff\n");
    add(group, "mon_groups", DIRECTORY_MODE, "");
}

static void path_of(unsigned node, char *path, size_t size)
{
    if (node == ROOT) {
        path[0] = 0;
        return;
    }
    path_of(nodes[node].parent, path, size);
    snprintf(path + strlen(path), size - strlen(path), "/%s", nodes[node].name);
}

static void note(const char *verb, unsigned node, const char *text)
{
    char path[1024];
    path_of(node, path, sizeof path);
    fprintf(history, "%s %s%s%s\n", verb, path, *text ? " " : "", text);
    fflush(history);
}

static int has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (; *text; text += strcspn(text, "\n") + 1)
        if (!strncmp(text, line, length) && text[length] == '\n')
            return 1;
    return 0;
}

static void leave_all(const char *pid)
{
    for (unsigned i = ROOT; i < NODES; i++) {
        char *text = nodes[i].text, kept[sizeof nodes[i].text] = "";
        if (!nodes[i].mode || strcmp(nodes[i].name, "tasks"))
            continue;
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (strcmp(line, pid))
                snprintf(kept + strlen(kept), sizeof kept - strlen(kept), "%s\n", line);
        strcpy(text, kept);
    }
}

// A monitoring group has processes of the group it is in only, which they do not leave for it.
static int join_group(struct node *tasks, const char *pid)
{
    unsigned above = nodes[tasks->parent].parent;
    if (!strcmp(nodes[above].name, "mon_groups")) {
        if (!has_line(nodes[find(nodes[above].parent, "tasks")].text, pid))
            return -EINVAL;
    } else {
        leave_all(pid);
    }
    snprintf(tasks->text + strlen(tasks->text), sizeof tasks->text - strlen(tasks->text), "%s\n", pid);
    return 0;
}

// "L3:0=f;1=f": each domain of a resource that is there.
static int change_schemata(struct node *file, const char *line)
{
    char changed[sizeof file->text], wanted[256], resource[64];
    const char *colon = strchr(line, ':');
    if (!colon || (size_t)(colon - line) >= sizeof resource || strlen(colon) >= sizeof wanted)
        return -EINVAL;
    snprintf(resource, sizeof resource, " %.*s:", (int)(colon - line), line);
    char *row = strstr(file->text, resource);
    if (!row)
        return -EINVAL;
    char *from = row + strlen(resource), *end = strchr(from, '\n');
    snprintf(changed, sizeof changed, "%.*s", (int)(from - file->text), file->text);
    strcpy(wanted, colon + 1);
    for (char *entry = from; entry < end; entry = strpbrk(entry, ";\n") + 1) {
        size_t length = strcspn(entry, ";\n"), domain = strcspn(entry, "=") + 1;
        const char *value = entry;
        for (char *found = wanted; found; found = strchr(found, ';') ? strchr(found, ';') + 1 : NULL)
            if (!strncmp(found, entry, domain)) {
                value = found;
                length = strcspn(found, ";");
            }
        snprintf(changed + strlen(changed), sizeof changed - strlen(changed), "%s%.*s", entry == from ? "" : ";", (int)length, value);
    }
    snprintf(changed + strlen(changed), sizeof changed - strlen(changed), "%s", end);
    strcpy(file->text, changed);
    return 0;
}

static int change(struct node *file, const char *text, size_t length)
{
    char line[1024];
    if (length >= sizeof line || length == 0)
        return -EINVAL;
    memcpy(line, text, length);
    line[length] = 0;
    int ended = line[length - 1] == '\n';
    if (ended)
        line[length - 1] = 0;
    note("write", (unsigned)(file - nodes), line);
    if (!strcmp(file->name, "tasks"))
        return join_group(file, line);
    if (!strcmp(file->name, "schemata"))
        return ended ? change_schemata(file, line) : -EINVAL;
    return -EACCES;
}

static void answer(uint64_t unique, int error, const void *data, size_t length)
{
    struct fuse_out_header header = {.len = (uint32_t)(sizeof header + length), .error = error, .unique = unique};
    struct iovec parts[] = {{&header, sizeof header}, {(void *)data, length}};
    if (writev(device, parts, length ? 2 : 1) < 0 && errno != ENOENT)
        perror("answer");
}

static struct fuse_attr attributes(unsigned number)
{
    struct node *node = &nodes[number];
    return (struct fuse_attr){.ino = number, .mode = node->mode, .nlink = 1, .size = S_ISDIR(node->mode) ? 0 : strlen(node->text), .blksize = 4096};
}

static void answer_entry(uint64_t unique, unsigned number)
{
    struct fuse_entry_out out = {.nodeid = number, .attr = attributes(number)};
    answer(unique, 0, &out, sizeof out);
}

static void make_group(uint64_t unique, unsigned parent, const char *name)
{
    int monitor = !strcmp(nodes[parent].name, "mon_groups");
    if (parent != ROOT && !monitor) {
        answer(unique, -EPERM, NULL, 0);
    } else if (find(parent, name)) {
        answer(unique, -EEXIST, NULL, 0);
    } else {
        unsigned group = add(parent, name, DIRECTORY_MODE, "");
        fill(group, !monitor);
        note("mkdir", group, "");
        answer_entry(unique, group);
    }
}

static void list(uint64_t unique, unsigned directory, const struct fuse_read_in *in)
{
    static char entries[1 << 16];
    size_t length = 0;
    for (unsigned i = in->offset > ROOT ? (unsigned)in->offset + 1 : ROOT + 1; i < NODES; i++) {
        if (!nodes[i].mode || nodes[i].parent != directory)
            continue;
        struct fuse_dirent entry = {.ino = i, .off = i, .namelen = (uint32_t)strlen(nodes[i].name), .type = nodes[i].mode >> 12};
        size_t size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.namelen);
        if (length + size > in->size || length + size > sizeof entries)
            break;
        memset(entries + length, 0, size);
        memcpy(entries + length, &entry, FUSE_NAME_OFFSET);
        memcpy(entries + length + FUSE_NAME_OFFSET, nodes[i].name, entry.namelen);
        length += size;
    }
    answer(unique, 0, entries, length);
}

static void serve(const struct fuse_in_header *in, const void *body)
{
    unsigned node = (unsigned)in->nodeid, child = 0;
    switch (in->opcode) {
    case FUSE_INIT: {
        const struct fuse_init_in *asked = body;
        struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION, .minor = asked->minor, .max_write = 4096, .max_readahead = asked->max_readahead};
        answer(in->unique, 0, &out, sizeof out);
        break;
    }
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    case FUSE_LOOKUP:
        if ((child = find(node, body)))
            answer_entry(in->unique, child);
        else
            answer(in->unique, -ENOENT, NULL, 0);
        break;
    case FUSE_GETATTR:
    case FUSE_SETATTR: {
        struct fuse_attr_out out = {.attr = attributes(node)};
        answer(in->unique, nodes[node].mode ? 0 : -ENOENT, &out, nodes[node].mode ? sizeof out : 0);
        break;
    }
    case FUSE_MKDIR:
        make_group(in->unique, node, (const char *)body + sizeof(struct fuse_mkdir_in));
        break;
    case FUSE_RMDIR:
        if ((child = find(node, body))) {
            note("rmdir", child, "");
            remove_tree(child);
        }
        answer(in->unique, child ? 0 : -ENOENT, NULL, 0);
        break;
    case FUSE_OPEN:
    case FUSE_OPENDIR: {
        struct fuse_open_out out = {.open_flags = in->opcode == FUSE_OPEN ? FOPEN_DIRECT_IO : 0};
        answer(in->unique, 0, &out, sizeof out);
        break;
    }
    case FUSE_READ: {
        const struct fuse_read_in *asked = body;
        size_t length = strlen(nodes[node].text), from = asked->offset < length ? asked->offset : length;
        answer(in->unique, 0, nodes[node].text + from, length - from < asked->size ? length - from : asked->size);
        break;
    }
    case FUSE_WRITE: {
        const struct fuse_write_in *asked = body;
        int error = change(&nodes[node], (const char *)body + sizeof *asked, asked->size);
        struct fuse_write_out out = {.size = asked->size};
        answer(in->unique, error, &out, error ? 0 : sizeof out);
        break;
    }
    case FUSE_READDIR:
        list(in->unique, node, body);
        break;
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
        answer(in->unique, 0, NULL, 0);
        break;
    default:
        answer(in->unique, -ENOSYS, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    static _Alignas(8) char request[BUFFER];
    char options[128];
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (argc != 3 || device < 0 || !(history = fopen(argv[2], "we")))
        return 2;
    nodes[ROOT] = (struct node){.mode = DIRECTORY_MODE};
    fill(ROOT, 1);
    unsigned info = add(ROOT, "info", DIRECTORY_MODE, ""), bandwidth = add(info, "MB", DIRECTORY_MODE, "");
    add(info, "last_cmd_status", FILE_MODE, "ok\n");
    add(bandwidth, "bandwidth_gran", FILE_MODE, "10\n");
    snprintf(options, sizeof options, "fd=%d,rootmode=%o,user_id=0,group_id=0", device, DIRECTORY_MODE);
    if (mount("resctrl", argv[1], "fuse", MS_NOSUID | MS_NODEV | MS_NOEXEC, options))
        return 3;
    for (;;) {
        ssize_t got = read(device, request, sizeof request);
        if (got < 0 && errno == ENODEV)
            return 0;
        if (got >= (ssize_t)sizeof(struct fuse_in_header))
            serve((const struct fuse_in_header *)request, request + sizeof(struct fuse_in_header));
        else if (got < 0 && errno != EINTR && errno != ENOENT)
            return 4;
    }
}
