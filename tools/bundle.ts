/**
 * src/runtime/cli/main.ts -> build/bundle/*.js -> build/bytecode/*.bin -> build/gen/embed.S.
 *
 * Three modules: "program" with everything that `runt` does, which is evaluated when the engine image is made; "main", which calls it at every start; and
 * "machine", the program of the processes of a machine.
 *
 * Usage: tsx tools/bundle.ts [--debug] [--entry FILE] [--output DIRECTORY] [--plugin FILE] [--testing] (in the repository; build/bytecode-compiler must exist)
 *   --entry   a program of its own in the place of these three, evaluated at every start
 *   --plugin  a module that exports one more "plugin" for esbuild (test/mutants)
 *   --testing with defences that can be switched off (src/runtime/testing/index.ts)
 */
import { existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build, type Metafile, type Plugin, type StdinOptions } from "esbuild";
import { IMAGE_PLACE } from "../src/shared/protocol/index.ts";
import { compile } from "./bundle/bytecode.ts";
import { writeEmbed } from "./bundle/embed.ts";
import { writeInputs } from "./bundle/inputs.ts";
import { runtimeSources } from "./bundle/sources.ts";

const MAIN = "src/runtime/cli/main.ts";
const PROGRAM = "src/runtime/cli/program.ts";
const MACHINE = "src/runtime/isolation/main.ts";
const { values: options } = parseArgs({
  options: {
    debug: { type: "boolean", default: false },
    entry: { type: "string", default: MAIN },
    output: { type: "string", default: "build" },
    plugin: { type: "string" },
    testing: { type: "boolean", default: false },
  },
});
const root = process.cwd();
const output = resolve(options.output);
const bundle = join(output, "bundle");
const bytecode = join(output, "bytecode");
const shim = (name: string): string => join(root, "src/runtime/host/shims", `${name}.ts`);

/** Files with the verbs that engines call. What they need lies at the beginning of the image, so that a call touches few pages of it. */
const ENGINES_CALL: readonly string[] = ["control", "ps", "list", "exec", "create"];

/** Data files that the program reads with host.resource(NAME). */
const RESOURCES: Readonly<Record<string, string>> = {
  schema: "build/gen/schema.json",
  troubleshooting: "docs/troubleshooting.md",
  ...Object.fromEntries(
    ["check", "findings", "gc", "inspect", "plan", "state"].map((name) => [`schema-${name}`, `build/gen/schema-${name}.json`]),
  ),
};

interface Entry {
  readonly name: string;
  readonly file: string;
  /** IMAGE_PLACE */
  readonly place: number;
}

const ENTRIES: readonly Entry[] =
  options.entry === MAIN
    ? [
        { name: "program", file: PROGRAM, place: IMAGE_PLACE.evaluated },
        { name: "main", file: MAIN, place: IMAGE_PLACE.read },
        { name: "machine", file: MACHINE, place: IMAGE_PLACE.read },
      ]
    : [{ name: "main", file: options.entry, place: IMAGE_PLACE.read }];

/** esbuild writes modules in the order in which they are first imported. */
function programEntry(): StdinOptions {
  const verbs = ENGINES_CALL.map((file) => `export * as "${file}" from "./src/runtime/cli/commands/${file}.ts";`);
  return {
    contents: [...verbs, `export { runt } from "./${PROGRAM}";`].join("\n"),
    resolveDir: root,
    sourcefile: "program-entry.ts",
    loader: "ts",
  };
}

async function bundleEntry({ name, file }: Entry): Promise<Metafile["outputs"]> {
  const { metafile } = await build<BuildOptions & { metafile: true }>({
    ...(file === PROGRAM ? { stdin: programEntry() } : { entryPoints: [file] }),
    outfile: join(bundle, `${name}.js`),
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2023",
    minifySyntax: true,
    minifyWhitespace: !options.debug,
    minifyIdentifiers: false,
    keepNames: false,
    external: ["runt:host"],
    metafile: true,
    // The program contains the paths of bundled packages. They must not depend on where node_modules is.
    preserveSymlinks: true,
    legalComments: "none",
    plugins: [...(await morePlugins()), ...(file === MAIN ? [besideProgram] : []), runtimeSources(options)],
    logLevel: "warning",
    alias: {
      "node:events": shim("events"),
      "node:path": shim("path"),
      "node:process": shim("process"),
      "node:fs": shim("none"),
      "node:child_process": shim("none"),
    },
  });
  return metafile.outputs;
}

/** "main" finds the program beside it, in the image. */
const besideProgram: Plugin = {
  name: "beside-program",
  setup: (builder) => builder.onResolve({ filter: /\/program\.ts$/ }, () => ({ path: "./program.js", external: true })),
};

async function morePlugins(): Promise<readonly Plugin[]> {
  if (options.plugin === undefined) return [];
  const module = (await import(resolve(options.plugin))) as { plugin: Plugin };
  return [module.plugin];
}

rmSync(bundle, { recursive: true, force: true });
const outputs = await Promise.all(ENTRIES.map(bundleEntry));
writeInputs(join(output, "bundle-inputs.txt"), Object.assign({}, ...outputs));
const names = ENTRIES.map(({ name }) => name);
compile({ bundle, bytecode }, names, options.debug);
writeEmbed(join(output, "gen/embed.S"), "tools/bundle.ts", {
  ...{ names, places: ENTRIES.map(({ place }) => place), bytecode },
  resources: Object.entries(RESOURCES).filter(([, file]) => existsSync(file)),
  helper: process.env["RUNT_HELPER"] ?? "build/runt-init",
});
