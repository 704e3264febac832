/* The one system call instruction, for x86-64 and aarch64. */
#include "../shared/sys.h"

#if defined(__x86_64__)
__asm__(".text\n.globl raw_syscall\n.type raw_syscall,@function\nraw_syscall:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\nmov 8(%rsp),%r9\nsyscall\nret\n"
        ".size raw_syscall,.-raw_syscall\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl raw_syscall\n.type raw_syscall,%function\nraw_syscall:\n"
        "mov x8,x0\nmov x0,x1\nmov x1,x2\nmov x2,x3\nmov x3,x4\nmov x4,x5\nmov x5,x6\nsvc #0\nret\n"
        ".size raw_syscall,.-raw_syscall\n");
#else
#error "runt-init knows x86-64 and aarch64"
#endif
