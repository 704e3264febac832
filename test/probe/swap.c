// Exchange two names as fast as possible, until killed: what is at a path is now one thing, now the other. Usage: swap ONE OTHER
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (;;)
        if (syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) < 0)
            return 1;
}
