/** Words in front of a command whose stdin is to be a terminal: `run` wants one among its streams for a container that has one. */
export const ON_TERMINAL: readonly string[] = [
  "python3",
  "-c",
  "import os, pty, sys; own, other = pty.openpty(); os.set_inheritable(own, True); os.dup2(other, 0); os.execvp(sys.argv[1], sys.argv[1:])",
];
