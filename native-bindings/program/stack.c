/*
 * Entry of the program, before libc's: a stack of its own where the caller allows less than the engine needs (`ulimit -s 8`, of which the kernel
 * takes up to 8 KiB at random). The limit itself stays as it is: the program of the container gets it. No thread: namespaces and ids must be
 * those of the first one.
 */
#include "stack.h"

#include "../shared/raw.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* An overflow is a fault instead of somebody else's memory. */
#define GUARD ((size_t)64 << 10)

/* Of musl: what _start goes on with, given the words that the kernel has left on the stack. */
extern _Noreturn void _start_c(long *words);
_Noreturn void host_start(void);
uintptr_t host_choose_stack(uintptr_t stack);

#if defined(__x86_64__)
__asm__(".section .text.host_start,\"ax\"\n.globl host_start\n.type host_start,@function\nhost_start:\nxor %ebp,%ebp\nmov %rsp,%rbx\n"
        "mov %rsp,%rdi\nand $-16,%rsp\ncall host_choose_stack\nmov %rax,%rsp\nmov %rbx,%rdi\ncall _start_c\nhlt\n"
        ".size host_start,.-host_start\n.text\n");
__asm__(".section .text.host_call_on_stack,\"ax\"\n.globl host_call_on_stack\n.type host_call_on_stack,@function\nhost_call_on_stack:\n"
        "push %rbx\nmov %rsp,%rbx\nmov %rdi,%rsp\nmov %rdx,%rdi\ncall *%rsi\nmov %rbx,%rsp\npop %rbx\nret\n"
        ".size host_call_on_stack,.-host_call_on_stack\n.text\n");
#elif defined(__aarch64__)
__asm__(".section .text.host_start,\"ax\"\n.globl host_start\n.type host_start,%function\nhost_start:\nmov x29,xzr\nmov x19,sp\n"
        "mov x0,sp\nbl host_choose_stack\nmov sp,x0\nmov x0,x19\nbl _start_c\nbrk #0\n.size host_start,.-host_start\n.text\n");
__asm__(".section .text.host_call_on_stack,\"ax\"\n.globl host_call_on_stack\n.type host_call_on_stack,%function\nhost_call_on_stack:\n"
        "stp x29,x30,[sp,#-32]!\nstr x19,[sp,#16]\nmov x29,sp\nmov x19,sp\nmov sp,x0\nmov x0,x2\nblr x1\nmov sp,x19\n"
        "ldr x19,[sp,#16]\nldp x29,x30,[sp],#32\nret\n.size host_call_on_stack,.-host_call_on_stack\n.text\n");
#else
#error "runt knows x86-64 and aarch64"
#endif

/* Where the stack is to begin, given where it is. libc is not there yet: neither errno nor the word that guards the stack. */
__attribute__((no_stack_protector)) uintptr_t host_choose_stack(uintptr_t stack) {
    uint64_t limit[2]; /* struct rlimit64 of the kernel */
    const size_t size = HOST_STACK + HOST_STACK_RESERVE;
    /* Twice what the engine may use: arguments and environment take of it too. */
    if (raw_call6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)limit, 0, 0) < 0 || limit[0] / 2 >= HOST_STACK) return stack & ~(uintptr_t)15;
    long bottom = raw_call6(SYS_mmap, 0, GUARD + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if ((unsigned long)bottom < -4096ul && raw_call6(SYS_mprotect, bottom + GUARD, size, PROT_READ | PROT_WRITE, 0, 0, 0) == 0)
        return (uintptr_t)bottom + GUARD + size;
    static const char text[] = "runt: the limit of the stack is too low, and there is no memory for another one\n";
    raw_call6(SYS_write, 2, (long)text, sizeof(text) - 1, 0, 0, 0);
    for (;;) raw_call6(SYS_exit_group, 1, 0, 0, 0, 0, 0);
}
