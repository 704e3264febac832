/** errno(3): the numbers that runt itself gives. All others go by their names. */
/** Of a seccomp filter, when its profile names none. */
export const EPERM = 1;
/** Of a list of the kernel's that changes whenever it is asked for. */
export const EAGAIN = 11;
