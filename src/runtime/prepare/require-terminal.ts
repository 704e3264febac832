import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

/**
 * In the foreground the container's terminal is shown in the caller's (runc's rule: one of the standard streams, or the controlling one).
 * Without any, whatever reads from it would wait for ever. `asked`: who wants it, for the error.
 */
export function requireOwnTerminal(asked: string, details: { readonly pointer?: string } = {}): void {
  if ([0, 1, 2].some((fd) => host.isatty(fd)) || hasControllingTerminal()) return;
  throw new RuntError("usage", `${asked}: none of stdin, stdout and stderr is a terminal`, {
    ...details,
    hint: "run it in a terminal, ask for none, or use --detach and --console-socket",
  });
}

function hasControllingTerminal(): boolean {
  try {
    host.close(host.open("/dev/tty", host.O.RDWR | host.O.NOCTTY));
    return true;
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    return false;
  }
}
