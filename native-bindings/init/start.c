/* Process entry, for x86-64 and aarch64. */
#include "run.h"
#include "self.h"
#include "../shared/sys.h"

#define RLIMIT_STACK_ 3

#ifdef RUNT_HOSTED
int main(int count, char **arguments, char **environment) { return helper_main(count, arguments, environment); }
#else
#if defined(__x86_64__)
__asm__(".text\n.globl _start\n.type _start,@function\n_start:\nxor %ebp,%ebp\nmov %rsp,%rbx\nmov %rsp,%rdi\n"
        "and $-16,%rsp\ncall choose_stack\nmov %rax,%rsp\nmov %rbx,%rdi\ncall start_c\nhlt\n");
#else
__asm__(".text\n.globl _start\n.type _start,%function\n_start:\nmov x29,xzr\nmov x19,sp\nmov x0,sp\nbl choose_stack\n"
        "mov sp,x0\nmov x0,x19\nbl start_c\nbrk #0\n");
#endif

/* More than any operation takes. */
#define STACK_SIZE (1u << 20)
#define STACK_GUARD (64u << 10)

/* Where the stack is to begin, given where it is: a new one where the caller allows less than that, which stays the limit of the program. */
unsigned long choose_stack(unsigned long stack);
__attribute__((no_stack_protector)) unsigned long choose_stack(unsigned long stack) {
  uint64_t limit[2];
  if (sys(__NR_prlimit64, 0, RLIMIT_STACK_, NULL, limit) < 0 || limit[0] >= 2 * STACK_SIZE) return stack & ~15ul;
  long bottom = sys(__NR_mmap, 0, STACK_GUARD + STACK_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bottom < 0 && bottom > -4096) sys_exit(1);
  if (sys(__NR_mprotect, bottom + STACK_GUARD, STACK_SIZE, PROT_READ | PROT_WRITE) < 0) sys_exit(1);
  return (unsigned long)bottom + STACK_GUARD + STACK_SIZE;
}

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
