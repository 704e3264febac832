/* The system calls that the shared sources use (native-bindings/shared/sys.h). */
#include "../shared/raw.h"

long raw_syscall(long number, long a, long b, long c, long d, long e, long f);
long raw_syscall(long number, long a, long b, long c, long d, long e, long f) { return raw_call6(number, a, b, c, d, e, f); }
