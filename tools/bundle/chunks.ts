/**
 * What esbuild has made of a program: chunks, which it splits off at every `import()`. An executable has them all in a table and loads them synchronously: bytecode without debug
 * information carries no module names, which QuickJS needs for `import()`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";

export interface Chunk {
  readonly name: string;
  /** Source module of an entry or of the target of an `import()`. */
  readonly source: string | undefined;
  readonly staticImports: readonly string[];
}

const LOADER = "runtLoad";

export function chunksOf(outputs: Metafile["outputs"]): readonly Chunk[] {
  return Object.entries(outputs).map(([file, chunk]) => ({
    name: nameOf(file),
    source: chunk.entryPoint,
    staticImports: chunk.imports.filter((entry) => entry.kind === "import-statement" && !entry.external).map((entry) => nameOf(entry.path)),
  }));
}

function nameOf(file: string): string {
  return file.replace(/^.*\//, "").replace(/\.js$/, "");
}

/** `import("./x.js")` becomes a promise that is already fulfilled. Its member `loaded` is the module itself. */
export function replaceDynamicImports(directory: string, chunks: readonly Chunk[]): void {
  for (const { name } of chunks) {
    const file = join(directory, `${name}.js`);
    const text = readFileSync(file, "utf8");
    const replaced = text.replace(/\bimport\("\.\/([^"]+)\.js"\)/g, (_, target: string) => `${LOADER}("${target}")`);
    if (replaced !== text) {
      const promise = "Object.assign(Promise.resolve(loaded),{loaded})";
      const loader = `import{loadModule as runtLoadModule}from"runt:host";const ${LOADER}=n=>{const loaded=runtLoadModule(n);return ${promise}};\n`;
      writeFileSync(file, loader + replaced);
    }
  }
}

/** The module and everything that it imports when it is loaded. */
export function reach(byName: ReadonlyMap<string, Chunk>, name: string, seen: Set<string>): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const next of byName.get(name)?.staticImports ?? []) reach(byName, next, seen);
  return seen;
}

/** The files of which the chunks contain something, for the bill of materials (tools/sbom). */
export function writeInputs(file: string, outputs: Metafile["outputs"]): void {
  const used = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs).filter((name) => (inputs[name]?.bytesInOutput ?? 0) > 0));
  writeFileSync(
    file,
    [...new Set(used)]
      .sort()
      .map((name) => `${name}\n`)
      .join(""),
  );
}
