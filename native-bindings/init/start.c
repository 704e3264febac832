/* Process entry and the one system call instruction, for x86-64 and aarch64. */
#include "run.h"
#include "self.h"
#include "sys.h"

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

#ifdef RUNT_HOSTED
int main(int count, char **arguments, char **environment) { return helper_main(count, arguments, environment); }
#else
#if defined(__x86_64__)
__asm__(".text\n.globl _start\n.type _start,@function\n_start:\nxor %ebp,%ebp\nmov %rsp,%rdi\nand $-16,%rsp\ncall start_c\nhlt\n");
#else
__asm__(".text\n.globl _start\n.type _start,%function\n_start:\nmov x29,xzr\nmov x0,sp\nbl start_c\nbrk #0\n");
#endif

_Noreturn void start_c(long *stack);
__attribute__((no_stack_protector)) _Noreturn void start_c(long *stack) {
  int count = (int)stack[0];
  char **arguments = (char **)(stack + 1);
  char **environment = arguments + count + 1, **end = environment;
  while (*end != NULL) end++;
  self_prepare((const unsigned long *)(end + 1));
  sys_exit(helper_main(count, arguments, environment));
}
#endif
