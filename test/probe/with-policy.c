// Runs a program that inherits a NUMA memory policy: node 0 is preferred. Usage: with-policy PROGRAM [ARGUMENT]...
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    unsigned long nodes = 1;
    if (argc < 2 || syscall(SYS_set_mempolicy, MPOL_PREFERRED, &nodes, 8 * sizeof nodes))
        return 2;
    execvp(argv[1], argv + 1);
    return 127;
}
