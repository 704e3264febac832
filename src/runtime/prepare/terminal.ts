import type { ContainerConfig } from "../config/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import type { CreateOptions } from "./options.ts";

/** A detached container with a terminal needs a console socket, and no other container may have one (runc's rule and words). */
export function checkTerminal(config: ContainerConfig, { mode, detach, unattended, consoleSocket, resizeFifo }: CreateOptions): void {
  const detached = (mode === "create" && !unattended) || detach;
  const terminal = config.process?.terminal === true;
  const field = { pointer: "/process/terminal" };
  if (terminal && detached && consoleSocket === undefined) throw new RuntError("usage", WORDS.consoleSocketMissing, field);
  if (consoleSocket !== undefined && !(terminal && detached)) throw new RuntError("usage", WORDS.consoleSocketUnused, field);
  if (resizeFifo !== undefined && !(terminal && unattended)) throw new RuntError("usage", WORDS.resizeUnused, field);
}

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
