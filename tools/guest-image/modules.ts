/** Which modules a guest needs, with those that they need, in the order in which they are to be inserted. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The bus, the channel, the file system, and the network. */
export const ALWAYS = ["virtio_pci", "virtio_console", "virtiofs", "virtio_net"] as const;
/** Of devices that a container may have (src/runtime/config/machine-devices.ts, src/runtime/isolation/configurations/devices.ts). */
export const OPTIONAL = ["tun", "virtio_blk"] as const;

export interface Module {
  readonly name: string;
  readonly file: string;
}

/** `tree`: lib/modules/RELEASE. @throws Error where one is missing */
export function modulesOf(tree: string, wanted: readonly string[]): Module[] {
  const files = new Map(
    readdirSync(tree, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ko"))
      .map((path) => [nameOf(path), join(tree, path)]),
  );
  const found = new Map<string, Module>();
  const add = (name: string): void => {
    if (found.has(name)) return;
    const file = files.get(name);
    if (file === undefined) throw new Error(`no module ${name} in ${tree}`);
    for (const needed of neededBy(readFileSync(file))) add(needed);
    found.set(name, { name, file });
  };
  for (const name of wanted) add(name);
  return [...found.values()];
}

/** The names after `depends=` of its section .modinfo. */
export function neededBy(module: Buffer): string[] {
  const depends = /\0depends=([^\0]*)\0/.exec(module.toString("latin1"))?.[1] ?? "";
  return depends.split(",").filter((name) => name !== "");
}

/** File names have either sign, names of modules the second. */
function nameOf(path: string): string {
  return basename(path, ".ko").replaceAll("-", "_");
}
