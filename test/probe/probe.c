// What a process sees of itself and its surroundings, as sorted "section key: value" lines that two runtimes can be compared by.
// Usage: probe [--namespace NAME:[INODE]]... [--sysctl PATH]... [--path PATH]... [--syscall NUMBER[:ARGUMENT]]...
//   --namespace  a namespace link of the host: printed as "host" if this process is in it, else as "own"
//   --sysctl     a file below /proc/sys whose value is printed
//   --syscall    a system call made with this one argument (default 0): its errno is printed, 0 if there is none
//   --path       a masked or read-only path: what is there, how much can be read, and how opening it for writing ends
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

extern char **environ;

static char **lines;
static size_t count, room;

__attribute__((format(printf, 1, 2))) static void line(const char *format, ...)
{
    if (count == room) {
        room = room ? 2 * room : 256;
        lines = realloc(lines, room * sizeof *lines);
        if (!lines)
            abort();
    }
    va_list args;
    va_start(args, format);
    if (vasprintf(&lines[count++], format, args) < 0)
        abort();
    va_end(args);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The whole file in a static buffer, without the last newline; NULL if it cannot be read.
static char *slurp(const char *path)
{
    static char text[1 << 18];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t length = 0;
    ssize_t got;
    while (length < sizeof text - 1 && (got = read(fd, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    close(fd);
    if (length && text[length - 1] == '\n')
        length--;
    text[length] = 0;
    return text;
}

static void status(void)
{
    static const char *const keys[] = {"Uid", "Gid", "Groups", "Umask", "NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff",
                                       "CapBnd", "CapAmb", "SigBlk", "SigIgn", "Cpus_allowed_list", "Mems_allowed_list", "NSpid", "Threads"};
    char *text = slurp("/proc/self/status");
    for (char *row = text ? strtok(text, "\n") : NULL; row; row = strtok(NULL, "\n")) {
        char *colon = strchr(row, ':');
        if (!colon)
            continue;
        *colon++ = 0;
        while (*colon == '\t' || *colon == ' ')
            colon++;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (!strcmp(row, keys[i]))
                line("status %s: %s", row, colon);
    }
}

static void limits(void)
{
    static const char *const names[] = {"CPU", "FSIZE", "DATA", "STACK", "CORE", "RSS", "NPROC", "NOFILE",
                                        "MEMLOCK", "AS", "LOCKS", "SIGPENDING", "MSGQUEUE", "NICE", "RTPRIO", "RTTIME"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        struct rlimit r;
        if (!getrlimit(i, &r))
            line("rlimit %s: %lld %lld", names[i], (long long)r.rlim_cur, (long long)r.rlim_max);
    }
}

static void process(void)
{
    char host[256] = "", domain[256] = "", cwd[PATH_MAX] = "(unreachable)";
    gethostname(host, sizeof host - 1);
    if (getdomainname(domain, sizeof domain - 1))
        domain[0] = 0;
    if (!getcwd(cwd, sizeof cwd))
        snprintf(cwd, sizeof cwd, "(error %d)", errno);
    line("process hostname: %s", host);
    line("process domainname: %s", domain);
    line("process cwd: %s", cwd);
    line("process pid is session leader: %d", getsid(0) == getpid());
    line("process pid is group leader: %d", getpgrp() == getpid());
    line("process pid 1: %d", getpid() == 1);
    line("process nice: %d", getpriority(PRIO_PROCESS, 0));
    line("process scheduler: %ld", syscall(SYS_sched_getscheduler, 0));
    line("process personality: %x", (unsigned)personality(0xffffffff));
    line("process dumpable: %d", prctl(PR_GET_DUMPABLE));
    line("process keep capabilities: %d", prctl(PR_GET_KEEPCAPS));
    line("process securebits: %d", prctl(PR_GET_SECUREBITS));
    int value = -1;
    prctl(PR_GET_PDEATHSIG, &value);
    line("process death signal: %d", value);
    prctl(PR_GET_CHILD_SUBREAPER, &value);
    line("process subreaper: %d", value);
    char *score = slurp("/proc/self/oom_score_adj");
    line("process oom_score_adj: %s", score ? score : "(unreadable)");
    for (char **e = environ; *e; e++)
        line("env %s", *e);
    struct statvfs root;
    if (!statvfs("/", &root))
        line("root readonly: %d", !!(root.f_flag & ST_RDONLY));
}

static void terminal(void)
{
    for (int fd = 0; fd < 3; fd++) {
        char name[PATH_MAX] = "";
        if (isatty(fd))
            ttyname_r(fd, name, sizeof name);
        line("tty %d: %s", fd, name[0] ? name : "no");
    }
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    line("tty controlling: %s", fd >= 0 ? "yes" : "no");
    if (fd >= 0)
        close(fd);
}

static void descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] == '.' || fd == dirfd(d))
            continue;
        struct stat s;
        char target[PATH_MAX] = "", link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        if (fstat(fd, &s))
            continue;
        const char *kind = S_ISFIFO(s.st_mode) ? "pipe" : S_ISSOCK(s.st_mode) ? "socket" : target;
        line("fd %d: %s mode %o", fd, kind, (unsigned)(fcntl(fd, F_GETFL) & O_ACCMODE));
    }
    if (d)
        closedir(d);
}

// Peer group numbers differ from run to run; ids and parents do too.
static void mounts(void)
{
    char *text = slurp("/proc/self/mountinfo"), *save;
    for (char *row = text ? strtok_r(text, "\n", &save) : NULL; row; row = strtok_r(NULL, "\n", &save)) {
        char *dash = strstr(row, " - "), *word, *inner;
        if (!dash)
            continue;
        *dash = 0;
        char tags[128] = "", *field[6] = {0};
        int i = 0;
        for (word = strtok_r(row, " ", &inner); word; word = strtok_r(NULL, " ", &inner), i++) {
            if (i < 6)
                field[i] = word;
            else
                snprintf(tags + strlen(tags), sizeof tags - strlen(tags), " %.*s", (int)strcspn(word, ":"), word);
        }
        if (field[5])
            line("mount %s: root %s options %s%s type %s", field[4], field[3], field[5], tags, dash + 3);
    }
}

static void cgroups(void)
{
    char *text = slurp("/proc/self/cgroup"), *save;
    for (char *row = text ? strtok_r(text, "\n", &save) : NULL; row; row = strtok_r(NULL, "\n", &save)) {
        char *colon = strchr(row, ':');
        if (colon)
            line("cgroup %s", colon + 1);
    }
}

static void tree(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        char child[PATH_MAX], target[PATH_MAX] = "";
        snprintf(child, sizeof child, "%s/%s", path, e->d_name);
        struct stat s;
        if (lstat(child, &s))
            continue;
        if (S_ISLNK(s.st_mode)) {
            ssize_t length = readlink(child, target, sizeof target - 1);
            target[length > 0 ? length : 0] = 0;
            line("dev %s: link to %s", child, target);
        } else {
            line("dev %s: mode %o owner %u:%u device %u:%u", child, (unsigned)s.st_mode, s.st_uid, s.st_gid, major(s.st_rdev), minor(s.st_rdev));
        }
        if (S_ISDIR(s.st_mode))
            tree(child);
    }
    if (d)
        closedir(d);
}

static void namespace(const char *host)
{
    char path[64], link[64] = "";
    snprintf(path, sizeof path, "/proc/self/ns/%.*s", (int)strcspn(host, ":"), host);
    ssize_t length = readlink(path, link, sizeof link - 1);
    link[length > 0 ? length : 0] = 0;
    line("namespace %.*s: %s", (int)strcspn(host, ":"), host, strcmp(link, host) ? "own" : "host");
}

static void special(const char *path)
{
    struct stat s;
    if (stat(path, &s)) {
        line("path %s: absent", path);
        return;
    }
    if (S_ISDIR(s.st_mode)) {
        int entries = 0;
        DIR *d = opendir(path);
        while (d && readdir(d))
            entries++;
        if (d)
            closedir(d);
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%s/runt-probe", path);
        int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        line("path %s: directory %s, creating a file: %s", path, entries > 2 ? "with entries" : "empty", fd < 0 ? strerror(errno) : "possible");
        return;
    }
    char byte;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, &byte, 1);
    const char *reading = fd < 0 || got < 0 ? strerror(errno) : got ? "content" : "empty";
    int out = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    line("path %s: device %u:%u reading: %s writing: %s", path, major(s.st_rdev), minor(s.st_rdev), reading, out < 0 ? strerror(errno) : "possible");
    if (fd >= 0)
        close(fd);
    if (out >= 0)
        close(out);
}

int main(int argc, char **argv)
{
    descriptors();
    status();
    limits();
    process();
    terminal();
    mounts();
    cgroups();
    tree("/dev");
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--namespace")) {
            namespace(argv[i + 1]);
        } else if (!strcmp(argv[i], "--path")) {
            special(argv[i + 1]);
        } else if (!strcmp(argv[i], "--syscall")) {
            char *end;
            long number = strtol(argv[i + 1], &end, 10);
            long result = syscall(number, *end == ':' ? strtoull(end + 1, NULL, 10) : 0, 0, 0, 0, 0, 0);
            line("syscall %s: %d", argv[i + 1], result < 0 ? errno : 0);
        } else if (!strcmp(argv[i], "--sysctl")) {
            char path[PATH_MAX];
            snprintf(path, sizeof path, "/proc/sys/%s", argv[i + 1]);
            char *value = slurp(path);
            line("sysctl %s: %s", argv[i + 1], value ? value : "(unreadable)");
        }
    }
    qsort(lines, count, sizeof *lines, by_text);
    for (size_t i = 0; i < count; i++)
        puts(lines[i]);
    return 0;
}
