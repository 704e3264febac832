/** Modules to QuickJS bytecode, by build/bytecode-compiler. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { TARGET } from "./target.ts";

export interface Directories {
  /** Of the JavaScript. */
  readonly bundle: string;
  /** Of the bytecode; it is made anew. */
  readonly bytecode: string;
}

export function compile({ bundle, bytecode }: Directories, names: readonly string[], isDebug: boolean): void {
  rmSync(bytecode, { recursive: true, force: true });
  mkdirSync(bytecode, { recursive: true });
  const compiler = resolve("build/bytecode-compiler");
  const flags = isDebug ? ["-g"] : [];
  const [program, ...words] = [...TARGET.runner, compiler, ...flags, bytecode, bundle, ...names];
  const { status, stderr } = spawnSync(program!, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${compiler}: ${stderr}`);
  if (readdirSync(bytecode).length !== names.length) throw new Error("some modules were not compiled");
}
