/**
 * The programs that come with the npm package: in bin/ of a package that was built on this kind of machine, and in the package of this kind of machine that
 * npm installs beside the published one (optionalDependencies; packaging/npm).
 */
import { closeSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

export type PackagedProgram = "runt" | "runt-pause" | "runtctl";

/** e_machine of ELF files (elf(5)), by process.arch. */
const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { arm64: 183, x64: 62 };

/** Where a program of this package may be, the likely place first. Programs of another machine are left out. */
export function packagedPrograms(name: PackagedProgram): string[] {
  // The relative path is the same from dist/node and from src/node.
  const own = fileURLToPath(new URL(`../../bin/${name}`, import.meta.url));
  return [...(machineOf(own) === MACHINES[process.arch] ? [own] : []), ...besideThis(name)];
}

function besideThis(name: PackagedProgram): string[] {
  try {
    return [createRequire(import.meta.url).resolve(`@runt-project/runt-linux-${process.arch}/bin/${name}`)];
  } catch {
    return [];
  }
}

/** undefined: there is no such program. */
export function machineOf(path: string): number | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const head = Buffer.alloc(20);
    const isElf = readSync(file, head, 0, head.length, 0) === head.length && head.readUInt32BE(0) === 0x7f454c46;
    return isElf ? head.readUInt16LE(18) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
