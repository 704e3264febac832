/** Chunks to QuickJS bytecode, by build/bytecode-compiler. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Chunk } from "./chunks.ts";

export interface Directories {
  /** Of the JavaScript. */
  readonly bundle: string;
  /** Of the bytecode; it is made anew. */
  readonly bytecode: string;
}

export function compile({ bundle, bytecode }: Directories, chunks: readonly Chunk[], isDebug: boolean): void {
  rmSync(bytecode, { recursive: true, force: true });
  mkdirSync(bytecode, { recursive: true });
  const compiler = resolve("build/bytecode-compiler");
  const flags = isDebug ? ["-g"] : [];
  const { status, stderr } = spawnSync(compiler, [...flags, bytecode, bundle, ...chunks.map((chunk) => chunk.name)], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${compiler}: ${stderr}`);
  if (readdirSync(bytecode).length !== chunks.length) throw new Error("some chunks were not compiled");
}
