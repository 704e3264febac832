/** The names of the features' seccomp section, in profiles. */
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Context } from "./context.ts";
import { recognised, type Using, works } from "./recognised.ts";

/** System calls that every architecture has and no runtime needs: one for each action and operator. */
const IDLE = [
  "acct",
  "adjtimex",
  "chroot",
  "delete_module",
  "init_module",
  "quotactl",
  "reboot",
  "settimeofday",
  "swapoff",
  "swapon",
  "vhangup",
];

const profile =
  (fields: (names: readonly string[]) => object): Using =>
  (names) =>
  (config) =>
    Object.assign(config.linux, { seccomp: { defaultAction: "SCMP_ACT_ALLOW", ...fields(names) } });

/** `names` tells a list of the section. */
export async function checkSeccompNames(c: Context, names: (list: string) => readonly string[]): Promise<void> {
  const listenerPath = await listener(c);
  const actions = profile((list) => ({
    syscalls: list.map((action, index) => ({ names: [IDLE[index]], action })),
    ...(list.includes("SCMP_ACT_NOTIFY") && { listenerPath }),
  }));
  const operators = profile((list) => ({
    syscalls: list.map((op, index) => ({
      names: [IDLE[index]],
      action: "SCMP_ACT_ERRNO",
      args: [{ index: 0, value: 1, valueTwo: 1, op }],
    })),
  }));
  const architectures = profile((list) => ({ architectures: list }));
  const flags = profile((list) => ({ flags: list }));
  await works(c, actions, names("actions"));
  await works(c, operators, names("operators"));
  await recognised(c, architectures, names("archs"));
  if (names("knownFlags").length > 0) await recognised(c, flags, names("knownFlags"));
  if (names("supportedFlags").length > 0) await works(c, flags, names("supportedFlags"));
}

/** Takes whatever comes; a filter that notifies needs somebody to tell. */
async function listener(c: Context): Promise<string> {
  const path = join(c.directory, "listener.sock");
  const server = createServer((socket) => void socket.resume());
  server.listen(path);
  await once(server, "listening");
  c.cleanup(() => void server.close());
  return path;
}
