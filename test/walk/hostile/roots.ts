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
  /** What is called so there; without it the id itself. */
  nameOf?(id: string): string;
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

export interface Foreign {
  /** State directories of other runtimes, and the name of the container in each. */
  readonly neighbours: readonly (readonly [directory: string, name: string])[];
  /** A directory of somebody else, with names of containers in it. */
  readonly directory: string;
}

/**
 * The second shares everything with the first but its state; with systemd its cgroups are units. The third one sees its own processes only. The fourth gets copies
 * of what the first three have. The others are no state roots of runt's.
 */
export async function makeRoots(directory: string, witnesses: Witnesses, foreign: Foreign): Promise<readonly Root[]> {
  const path = (name: string) => {
    const made = join(directory, name);
    mkdirSync(made, { recursive: true, mode: 0o700 });
    return made;
  };
  const [first, second, third] = [path("r0"), path("r1"), path("r2")];
  const usual = (root: string): Root => ({ path: root, prefix: [], command: [RUNTIME, "--root", root], cgroupsPath: plain });
  const inside = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child"];
  await witnesses.start("inside", { words: inside });
  const entry = ["nsenter", "--pid", "--mount", "--target", firstOf(witnesses.socket, "inside")];
  return [
    usual(first),
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
      : usual(second),
    { path: third, prefix: entry, command: [RUNTIME, "--root", third], cgroupsPath: plain },
    // Made by the first copy, with whatever mark the original has.
    usual(join(directory, "r3")),
    ...foreign.neighbours.map(([path, name]) => ({ ...usual(path), nameOf: (id: string) => (id === "h0" ? name : id) })),
    usual(foreign.directory),
  ];
}
