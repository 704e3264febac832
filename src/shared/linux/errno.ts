/** errno(3): the one number that a seccomp filter gives when its profile names none. All others go by their names. */
export const EPERM = 1;
