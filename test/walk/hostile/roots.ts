/** State roots, and how the runtime is called with each: as usual, and from a PID namespace that does not see who lives outside. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME } from "../../support/harness.ts";
import { systemdRuns } from "../../support/systemd.ts";
import type { Witnesses } from "./witnesses.ts";

export interface Root {
  readonly path: string;
  /** Before the command. */
  readonly prefix: readonly string[];
  /** The runtime and its global flags. */
  readonly command: readonly string[];
  /** linux.cgroupsPath of this cgroup. */
  cgroupsPath(place: string): string;
}

const plain = (place: string): string => place;

/** The unit is called like the last two levels of the place. */
export function unitOf(place: string): { readonly prefix: string; readonly name: string; readonly unit: string } {
  const [prefix = "", name = ""] = place.split("/").slice(-2);
  return { prefix, name, unit: `${prefix}-${name}.scope` };
}

/** Number on the host of the first process of a PID namespace, found by its arguments. */
function firstOf(socket: string, name: string): string {
  const found = readdirSync("/proc").find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const isNamed = readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith(`\0${socket}\0${name}\0`);
      return isNamed && /^NSpid:\t\d+\t1$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error(`no first process ${name}`);
  return found;
}

/** The second shares everything with the first but its state; with systemd its cgroups are units. The third one sees its own processes only. */
export async function makeRoots(directory: string, witnesses: Witnesses): Promise<readonly Root[]> {
  const path = (name: string) => {
    const made = join(directory, name);
    mkdirSync(made, { recursive: true, mode: 0o700 });
    return made;
  };
  const [first, second, third] = [path("r0"), path("r1"), path("r2")];
  const inside = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child"];
  await witnesses.start("inside", { words: inside });
  const entry = ["nsenter", "--pid", "--mount", "--target", firstOf(witnesses.socket, "inside")];
  return [
    { path: first, prefix: [], command: [RUNTIME, "--root", first], cgroupsPath: plain },
    systemdRuns
      ? {
          path: second,
          prefix: [],
          command: [RUNTIME, "--root", second, "--systemd-cgroup"],
          cgroupsPath(place) {
            const { prefix, name } = unitOf(place);
            return `system.slice:${prefix}:${name}`;
          },
        }
      : { path: second, prefix: [], command: [RUNTIME, "--root", second], cgroupsPath: plain },
    { path: third, prefix: entry, command: [RUNTIME, "--root", third], cgroupsPath: plain },
  ];
}
