/* System calls of a process that runs beside its parent in the same memory, and shares its errno: the result is -errno, and errno is left alone. */
#ifndef RUNT_RAW_H
#define RUNT_RAW_H

#if defined(__x86_64__)
static inline long raw_call(long number, long a, long b, long c, long d, long e) {
    long result;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth) : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long raw_call(long number, long a, long b, long c, long d, long e) {
    register long result __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    register long fifth __asm__("x4") = e;
    register long call __asm__("x8") = number;
    __asm__ volatile("svc #0" : "+r"(result) : "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(call) : "memory");
    return result;
}
#endif
#endif
