/** Flags of waitpid(2) (linux/wait.h). */
export const WAIT = { NOHANG: 1 } as const;
