// Looks, without a pause, for a process that runs none of the programs that the container has, and tries everything on it. Each success
// is a line on stdout: "fd N TARGET", "exe TARGET", "ptrace", "memory", "root". For ever; it says "ready" first.
// With --overwrite: opens the program that such a process runs, and writes into it as soon as that is possible ("overwritten").
// With --signal NUMBER: sends each such process this signal ("signal").
// With --names NAME,NAME: whatever has one of these names is one of the container's own.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// How long a file that cannot be written to yet is tried: while anybody executes it, that is ETXTBSY.
#define TRIES 2000
#define PAUSE_US 500

static const char *names = "";

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[PATH_MAX + 64];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length > 0 && (size_t)length < sizeof line && write(1, line, (size_t)length) != length)
        exit(3);
}

static bool is_own(const char *comm)
{
    size_t length = strlen(comm);
    for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && !strncmp(at, comm, length))
            return true;
    return false;
}

// True: alive, and none of the container's programs. The name is the one thing that everybody may read.
static bool is_foreign(int pid)
{
    char path[64], comm[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, comm, sizeof comm - 1);
    close(fd);
    if (size <= 0)
        return false;
    comm[strcspn(comm, "\n")] = 0;
    return !is_own(comm);
}

static void look(int pid)
{
    char path[300], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", pid, entry->d_name);
        ssize_t size = readlink(path, target, sizeof target - 1);
        if (size > 0 && is_foreign(pid))
            say("fd %s %.*s\n", entry->d_name, (int)size, target);
    }
    if (directory)
        closedir(directory);
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    ssize_t size = readlink(path, target, sizeof target - 1);
    if (size > 0 && is_foreign(pid))
        say("exe %.*s\n", (int)size, target);
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int memory = open(path, O_RDWR);
    if (memory >= 0 && is_foreign(pid))
        say("memory\n");
    if (memory >= 0)
        close(memory);
    snprintf(path, sizeof path, "/proc/%d/root/.", pid);
    int root = open(path, O_PATH);
    if (root >= 0 && is_foreign(pid))
        say("root\n");
    if (root >= 0)
        close(root);
    if (!ptrace(PTRACE_SEIZE, pid, 0, 0)) {
        if (is_foreign(pid))
            say("ptrace\n");
        ptrace(PTRACE_INTERRUPT, pid, 0, 0);
        waitpid(pid, NULL, __WALL);
        ptrace(PTRACE_DETACH, pid, 0, 0);
    }
}

static void overwrite(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    int held = open(path, O_PATH);
    if (held < 0 || !is_foreign(pid)) {
        if (held >= 0)
            close(held);
        return;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", held);
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        fd = open(path, O_WRONLY);
        if (fd < 0 && errno != ETXTBSY)
            break;
        if (fd < 0)
            usleep(PAUSE_US);
    }
    if (fd >= 0 && write(fd, "#!overwritten\n", 14) == 14)
        say("overwritten\n");
    if (fd >= 0)
        close(fd);
    close(held);
}

int main(int argc, char **argv)
{
    bool overwrites = false;
    int number = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--overwrite"))
            overwrites = true;
        else if (!strcmp(argv[i], "--signal") && i + 1 < argc)
            number = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--names") && i + 1 < argc)
            names = argv[++i];
        else
            return 2;
    }
    say("ready\n");
    for (int last = 0;; usleep(20)) {
        DIR *proc = opendir("/proc");
        for (struct dirent *entry; proc && (entry = readdir(proc));) {
            int pid = atoi(entry->d_name);
            if (pid <= 1 || pid == getpid() || !is_foreign(pid))
                continue;
            if (overwrites)
                overwrite(pid);
            else if (number == 0)
                look(pid);
            else if (pid != last && !kill(pid, number)) {
                say("signal\n");
                last = pid;
            }
        }
        if (proc)
            closedir(proc);
    }
}
