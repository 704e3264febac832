/** A built tree of opencontainers/runtime-tools: where the programs are, and what they read from their working directory. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";

export interface Tree {
  /** The programs are started here. */
  readonly directory: string;
  /** Sorted by name. */
  readonly programs: readonly { readonly name: string; readonly path: string }[];
}

/** `path`: the tree, or its directory "validation". @throws Error with what is missing */
export function findTree(path: string): Tree {
  const given = resolve(path);
  const directory = basename(given) === "validation" ? resolve(given, "..") : given;
  const validation = join(directory, "validation");
  if (!existsSync(validation)) throw new Error(`${directory} has no directory "validation": it is no tree of the OCI runtime-tools`);
  const programs = readdirSync(validation)
    .map((name) => ({ name, path: join(validation, name, `${name}.t`) }))
    .filter(({ path }) => existsSync(path) && statSync(path).isFile())
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  if (programs.length === 0) throw new Error(`${validation} has no programs: make runtimetest validation-executables in ${directory}`);
  if (!existsSync(join(directory, "runtimetest"))) throw new Error(`${directory} has no runtimetest: make runtimetest there`);
  return { directory, programs };
}
