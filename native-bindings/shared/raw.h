/* System calls that leave errno alone: the result is the kernel's, a negative errno on failure. For a process that shares the memory of its parent,
 * and for the time before libc begins. */
#ifndef RUNT_RAW_H
#define RUNT_RAW_H

static inline long raw_call6(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long result __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  register long sixth __asm__("x5") = f;
  register long call __asm__("x8") = number;
  __asm__ volatile("svc #0" : "+r"(result) : "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth), "r"(call) : "memory");
  return result;
#else
#error "runt knows x86-64 and aarch64"
#endif
}

static inline long raw_call(long number, long a, long b, long c, long d, long e) { return raw_call6(number, a, b, c, d, e, 0); }
#endif
