// Makes system calls and prints how each ends: "CALL: ERRNO", 0 if there is none; "CALL: trap DATA" when SIGSYS came instead.
// Usage: calls [--trap] [--thread] [x86:|x32:]NUMBER[:ARGUMENT]...
//   --trap    catch SIGSYS
//   --thread  call from a second thread; afterwards "alive" is printed by the first
//   x86, x32  by the other interfaces of an x86-64 kernel: int 0x80, and numbers with the x32 bit
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define X32_BIT 0x40000000

static int count;
static char **calls;
static volatile sig_atomic_t trapped, data;

static void note_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    trapped = 1;
    data = info->si_errno;
}

static long call_x86(long number)
{
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0), "c"(0), "d"(0), "S"(0), "D"(0) : "memory", "r8", "r9", "r10", "r11");
    errno = result < 0 ? -(int)result : 0;
    return result < 0 ? -1 : result;
#else
    (void)number;
    errno = ENOSYS;
    return -1;
#endif
}

static void make(const char *text)
{
    int other = !strncmp(text, "x86:", 4) || !strncmp(text, "x32:", 4);
    char *end = (char *)text + (other ? 4 : 0);
    long number = strtol(end, &end, 10);
    unsigned long long args[6] = {0};
    for (int i = 0; i < 6 && *end == ':'; i++)
        args[i] = strtoull(end + 1, &end, 10);
    trapped = 0;
    long result;
    if (!strncmp(text, "x86:", 4))
        result = call_x86(number);
    else
        result = syscall(other ? number | X32_BIT : number, args[0], args[1], args[2], args[3], args[4], args[5]);
    int error = result < 0 ? errno : 0;
    if (trapped)
        printf("%s: trap %d\n", text, (int)data);
    else
        printf("%s: %d\n", text, error);
    fflush(stdout);
}

static void *make_all(void *unused)
{
    for (int i = 0; i < count; i++)
        make(calls[i]);
    return unused;
}

// A thread that a filter has killed cannot be joined.
static int threads(void)
{
    int found = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        found += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return found;
}

int main(int argc, char **argv)
{
    int at = 1, threaded = 0;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (!strcmp(argv[at], "--trap")) {
            struct sigaction action = {.sa_sigaction = note_trap, .sa_flags = SA_SIGINFO};
            sigaction(SIGSYS, &action, NULL);
        }
        threaded |= !strcmp(argv[at], "--thread");
    }
    count = argc - at;
    calls = argv + at;
    if (!threaded) {
        make_all(NULL);
        return 0;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_all, NULL))
        return 1;
    while (threads() > 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    puts("alive");
    return 0;
}
