/** A copy of the repository that is changed for one mutant after the other: its sources, and the library that daemons are started from. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { REPOSITORY } from "../../support/programs.ts";
import { type Mutant, mutated } from "./mutant.ts";

const COPIED = ["src", "test", "tools", "dist", "package.json", "vitest.config.ts", "tsconfig.json"];
const LINKED = ["node_modules", "bin", "build"];

/** The client is two files, whatever they are made of (tools/bundle-client.ts). */
const CLIENT = "src/runtctl/";
const BUNDLES = ["client.js", "parsers.js"].map((name) => `dist/runtctl/${name}`);
/** Their sources. */
const IN_BUNDLES = [CLIENT, "src/pod/", "src/engine/spec/"];

/** Where the library has what is built of a source. */
function builtPath(file: string): string {
  return file.replace(/^src/, "dist").replace(/\.ts$/, ".js");
}

export class Tree {
  readonly directory: string;

  /** @param directory an empty one */
  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
    for (const name of COPIED) cpSync(join(REPOSITORY, name), join(directory, name), { recursive: true });
    for (const name of LINKED) symlinkSync(join(REPOSITORY, name), join(directory, name));
  }

  /** Returns how to take it back. @throws Error, as mutated */
  apply(mutant: Mutant): () => void {
    const changed = mutated(mutant, this.directory);
    const { outputText } = ts.transpileModule(changed, {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2023,
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
      },
    });
    const files: (readonly [path: string, text: string])[] = [[mutant.file, changed]];
    if (!mutant.file.startsWith(CLIENT)) files.push([builtPath(mutant.file), outputText]);
    const isBundled = IN_BUNDLES.some((part) => mutant.file.startsWith(part));
    const paths = [...files.map(([path]) => path), ...(isBundled ? BUNDLES : [])];
    const before = paths.map((path) => [path, readFileSync(join(this.directory, path))] as const);
    for (const [file, text] of files) writeFileSync(join(this.directory, file), text);
    if (isBundled) this.#bundleClient();
    return () => {
      for (const [file, bytes] of before) writeFileSync(join(this.directory, file), bytes);
    };
  }

  #bundleClient(): void {
    execFileSync("node_modules/.bin/tsx", ["tools/bundle-client.ts", "--uncached"], { cwd: this.directory });
  }
}
