/** A copy of the repository that is changed for one mutant after the other: its sources, and the library that daemons are started from. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { REPOSITORY } from "../../support/programs.ts";
import { type Mutant, mutated } from "./mutant.ts";

const COPIED = [
  ...["src", "test", "tools", "dist", "bin", "build", "native-bindings", "packaging", "bench", "docs"],
  ...["Makefile", "package.json", "package-lock.json", "vitest.config.ts", "tsconfig.json"],
];
const LINKED = ["node_modules"];

/** The client is one executable, whatever it is made of. */
const CLIENT = "src/runtctl/";
const EXECUTABLE = "bin/runtctl";
/** Its sources. */
const IN_EXECUTABLE = [CLIENT, "src/pod/", "src/engine/spec/"];

const NOT_IN_LIBRARY = [CLIENT, "src/runtd/"];

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
    for (const name of COPIED) cpSync(join(REPOSITORY, name), join(directory, name), { recursive: true, preserveTimestamps: true });
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
    // Of the daemon there are only the bundled files.
    if (!NOT_IN_LIBRARY.some((part) => mutant.file.startsWith(part))) files.push([builtPath(mutant.file), outputText]);
    const isInExecutable = IN_EXECUTABLE.some((part) => mutant.file.startsWith(part));
    const paths = [...files.map(([path]) => path), ...(isInExecutable ? [EXECUTABLE] : [])];
    const before = paths.map((path) => [path, readFileSync(join(this.directory, path))] as const);
    for (const [file, text] of files) writeFileSync(join(this.directory, file), text);
    if (isInExecutable) this.#makeClient();
    const isInDaemon = !mutant.file.startsWith(CLIENT);
    if (isInDaemon) this.#bundleDaemon();
    return () => {
      for (const [file, bytes] of before) writeFileSync(join(this.directory, file), bytes);
      if (isInDaemon) this.#bundleDaemon();
    };
  }

  #bundleDaemon(): void {
    execFileSync("node_modules/.bin/tsx", ["tools/bundle-daemon.ts"], { cwd: this.directory, stdio: ["ignore", "ignore", "inherit"] });
  }

  #makeClient(): void {
    // The version is that of the repository, whose history is not here.
    execFileSync("make", ["-o", "build/gen/build.h", EXECUTABLE], { cwd: this.directory, stdio: ["ignore", "ignore", "inherit"] });
  }
}
