import type { ContainerConfig } from "../config/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
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
