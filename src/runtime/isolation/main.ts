/**
 * The program of the processes that are part of a machine (native-bindings/program/main.c chooses it by the first argument): in the guest its first
 * process, on the host what boots it, the monitor and the processes that join. It is a bundle of its own, of which no verb loads anything.
 */
import * as host from "../host/index.ts";
import { boot } from "./boot/index.ts";
import { probe } from "./guest/boot.ts";
import { guest } from "./guest/index.ts";
import { monitor } from "./monitor/index.ts";
import { begin } from "./processes/ask.ts";
import { attach, leave } from "./processes/attach.ts";
import { join } from "./processes/join.ts";
import { readConsole } from "./processes/read-console.ts";
import { victim } from "./processes/repetition.ts";
import { beginShell } from "./processes/shell.ts";

const ROLES: Readonly<Record<string, () => never>> = {
  "machine-attach": attach,
  "machine-begin": begin,
  "machine-boot": boot,
  "machine-console": readConsole,
  "machine-guest": guest,
  "machine-monitor": monitor,
  "machine-probe": probe,
  "machine-join": join,
  "machine-leave": leave,
  "machine-shell": beginShell,
  "machine-victim": victim,
};

const role = host.argv()[1] ?? "";
try {
  if (!Object.hasOwn(ROLES, role)) throw new Error(`no such part of a machine: ${role}`);
  ROLES[role]!();
} catch (error) {
  host.write(2, `runt: ${role}: ${error instanceof Error ? error.message : String(error)}\n`);
  host.exit(125);
}
