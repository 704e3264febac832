// Who this process is: "real UID effective UID".
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    return printf("real %u effective %u\n", getuid(), geteuid()) < 0;
}
