/** Stands for `node:fs` and `node:child_process`: commander needs them only for subcommands in separate executables. */
export const unavailable = true;
