/** Checks interfaces of the host on which those of tasks are to be made. Plugins do not name an interface that they miss. */
import { output } from "./command.ts";
import { NetworkError } from "./errors.ts";

/** @throws NetworkError no-interface: the host has no such interface; program-missing, program-failed */
export async function checkInterface(name: string, timeoutMs: number): Promise<void> {
  const links = await output("ip", ["-o", "link", "show"], timeoutMs);
  const names = links.split("\n").map((line) => /^\d+: ([^:@]+)/.exec(line)?.[1]);
  if (!names.includes(name)) throw new NetworkError("no-interface", `the host has no interface ${name}`);
}
