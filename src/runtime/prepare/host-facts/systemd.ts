/** The systemd part of the host facts: who answers. */
import type { HostFacts } from "../../check/index.ts";
import { RuntError } from "../../errors/index.ts";
import { hasUserManager, LIVE } from "../host-probe.ts";

type Manager = HostFacts["systemd"]["system"];

export function recordSystemd(): HostFacts["systemd"] {
  const system = ask(false);
  const user = hasUserManager() ? ask(true) : undefined;
  return { ...(system && { system }), ...(user && { user }) };
}

/** undefined: there is none, or it does not answer. */
function ask(user: boolean): Manager {
  try {
    const found = LIVE.systemd(user);
    if (found.user !== user) return undefined;
    const { socket, direct, version, root } = found;
    return { socket, direct, version: version(), root };
  } catch (error) {
    if (error instanceof RuntError) return undefined;
    throw error;
  }
}
