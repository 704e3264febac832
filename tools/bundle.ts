/**
 * src/runtime/cli/main.ts -> build/bundle/*.js -> build/bytecode/*.bin -> build/gen/embed.S.
 *
 * esbuild splits the program at every `import()`, so that a verb loads only the chunks it needs (tools/bundle).
 *
 * Usage: tsx tools/bundle.ts [--debug] [--entry FILE] [--output DIRECTORY] [--plugin FILE] [--testing] (in the repository; build/bytecode-compiler must exist)
 *   --plugin  a module that exports one more "plugin" for esbuild (test/mutants)
 *   --testing with defences that can be switched off (src/runtime/testing/index.ts)
 */
import { existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build, type Metafile, type Plugin } from "esbuild";
import { IMAGE_PLACE } from "../src/shared/protocol/index.ts";
import { compile } from "./bundle/bytecode.ts";
import { type Chunk, chunksOf, reach, replaceDynamicImports, writeInputs } from "./bundle/chunks.ts";
import { writeEmbed } from "./bundle/embed.ts";
import { seeThroughIndexes } from "./see-through.ts";

const MAIN = "src/runtime/cli/main.ts";
/** The program of the processes of a machine (native-bindings/program/main.c): one chunk of its own, so that the verbs' chunks are as they would be without it. */
const MACHINE = "src/runtime/machine/main.ts";
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

/** Modules that read arguments or environment when they are evaluated. */
const READ_AT_START: readonly string[] = ["src/runtime/cli/commander.ts", "src/runtime/cli/help.ts"];

/** Verbs that people call and no engine calls. They are not in the engine image, because every start pays for its size. */
const SELDOM: readonly string[] = [
  MACHINE,
  "src/runtime/check/catalogue/index.ts",
  "src/runtime/cli/events-table.ts",
  "src/runtime/cli/features-table.ts",
  "src/runtime/cli/style.ts",
  "src/runtime/cli/commands/check.ts",
  "src/runtime/cli/commands/checkpoint.ts",
  "src/runtime/cli/commands/completion.ts",
  "src/runtime/cli/commands/diff.ts",
  "src/runtime/cli/commands/gc.ts",
  "src/runtime/cli/commands/inspect.ts",
  "src/runtime/cli/commands/mounts.ts",
  "src/runtime/cli/commands/restore.ts",
  "src/runtime/cli/commands/schema.ts",
  "src/runtime/cli/commands/explain.ts",
  "src/runtime/cli/commands/service.ts",
  "src/runtime/prepare/join-machine.ts",
  "src/runtime/prepare/machine.ts",
  "src/runtime/prepare/unreadable-config.ts",
  "src/runtime/config/host-destinations/index.ts",
  "src/runtime/cgroup/driver/explain.ts",
  "src/runtime/execute/in-machine.ts",
  "src/runtime/execute/kill-below.ts",
  "src/runtime/execute/thaw-joined.ts",
  "src/runtime/seccomp/compact.ts",
  "src/runtime/execute/terminal-sizes.ts",
  "src/runtime/verbs/checkpoint/index.ts",
  "src/runtime/prepare/expect-plan.ts",
  "src/runtime/execute/resctrl.ts",
  "src/runtime/network/missing.ts",
  "src/runtime/resctrl/index.ts",
  "src/runtime/execute/root-mount.ts",
  "src/runtime/prepare/host-facts/choose.ts",
  "src/runtime/verbs/restore/index.ts",
  "src/runtime/plan/mermaid/index.ts",
  "src/runtime/plan/system-calls/index.ts",
  "src/runtime/state/migrate.ts",
  "src/runtime/state/remains.ts",
  "src/runtime/trace/index.ts",
];

/** Verbs that engines call or wait for; those that need little come first. */
const ENGINES_CALL: readonly string[] = [
  "src/runtime/cli/program.ts",
  "src/runtime/cli/version.ts",
  "src/runtime/cli/commands/state.ts",
  "src/runtime/cli/commands/kill.ts",
  "src/runtime/cli/commands/start.ts",
  "src/runtime/cli/commands/delete.ts",
  "src/runtime/cli/commands/ps.ts",
  "src/runtime/cli/commands/pause.ts",
  "src/runtime/cli/commands/resume.ts",
  "src/runtime/cli/commands/list.ts",
  "src/runtime/cli/commands/update.ts",
  "src/runtime/cli/commands/exec.ts",
  "src/runtime/cli/commands/create.ts",
  "src/runtime/cli/commands/run.ts",
  "src/runtime/cgroup/devices/program-of.ts",
];

/** Verbs that people call often. They lie at the end of the image, apart from the pages of the others. */
const BY_HAND: readonly string[] = [
  "src/runtime/cli/print-plan.ts",
  "src/runtime/cli/commands/plan.ts",
  "src/runtime/cli/commands/validate.ts",
];

/** Data files that the program reads with host.resource(NAME). */
const RESOURCES: Readonly<Record<string, string>> = {
  schema: "build/gen/schema.json",
  troubleshooting: "docs/troubleshooting.md",
  ...Object.fromEntries(
    ["check", "findings", "gc", "inspect", "plan", "state"].map((name) => [`schema-${name}`, `build/gen/schema-${name}.json`]),
  ),
};

async function bundleProgram(): Promise<readonly Chunk[]> {
  rmSync(bundle, { recursive: true, force: true });
  const program = await bundleEntry({ main: options.entry }, true);
  const machine = await bundleEntry({ machine: MACHINE }, false);
  const outputs = { ...program.outputs, ...machine.outputs };
  writeInputs(join(output, "bundle-inputs.txt"), outputs);
  return chunksOf(outputs);
}

async function bundleEntry(entryPoints: Readonly<Record<string, string>>, splitting: boolean): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints,
    outdir: bundle,
    bundle: true,
    splitting,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2023",
    minifySyntax: true,
    minifyWhitespace: !options.debug,
    minifyIdentifiers: false,
    keepNames: false,
    external: ["runt:host"],
    chunkNames: "[name]-[hash]",
    metafile: true,
    // The program contains the paths of bundled packages. They must not depend on where node_modules is.
    preserveSymlinks: true,
    legalComments: "none",
    plugins: [...(await morePlugins()), seeThroughIndexes(options)],
    logLevel: "warning",
    alias: {
      "node:events": shim("events"),
      "node:path": shim("path"),
      "node:process": shim("process"),
      "node:fs": shim("none"),
      "node:child_process": shim("none"),
    },
  });
  return metafile;
}

async function morePlugins(): Promise<readonly Plugin[]> {
  if (options.plugin === undefined) return [];
  const module = (await import(resolve(options.plugin))) as { plugin: Plugin };
  return [module.plugin];
}

/**
 * In the order of the image: what the first of ENGINES_CALL needs, then what the second needs besides, and so on. A verb then touches the
 * beginning of the image and its own part.
 */
function inImageOrder(chunks: readonly Chunk[]): readonly Chunk[] {
  const byName = new Map(chunks.map((chunk) => [chunk.name, chunk]));
  const order = new Set(reach(byName, "main", new Set<string>()));
  for (const source of ENGINES_CALL) {
    const target = chunks.find((chunk) => chunk.source === source);
    if (target !== undefined) reach(byName, target.name, order);
    else if (options.entry === MAIN) throw new Error(`${source}: no target of an import()`);
  }
  for (const name of reachable(chunks, [...SELDOM, ...BY_HAND])) order.add(name);
  for (const { name } of chunks) order.add(name);
  return [...order].map((name) => byName.get(name)!);
}

function imagePlaces(chunks: readonly Chunk[]): number[] {
  const often = reachable(chunks, SELDOM);
  return chunks.map((chunk) =>
    !often.has(chunk.name) ? IMAGE_PLACE.leftOut : evaluatedAtBuild(chunk) ? IMAGE_PLACE.evaluated : IMAGE_PLACE.read,
  );
}

/** Names of the chunks that are loaded with any module that is loaded by name; those of `without` are not looked at. */
function reachable(chunks: readonly Chunk[], without: readonly string[]): ReadonlySet<string> {
  const byName = new Map(chunks.map((chunk) => [chunk.name, chunk]));
  const found = new Set<string>();
  for (const { name, source } of chunks) if (source !== undefined && !without.includes(source)) reach(byName, name, found);
  return found;
}

/** Modules whose top level only defines things run at build time; main and what reads the process's state run at start. */
function evaluatedAtBuild({ name, source }: Chunk): boolean {
  return source !== undefined && name !== "main" && !READ_AT_START.includes(source);
}

const chunks = inImageOrder(await bundleProgram());
replaceDynamicImports(bundle, chunks);
compile({ bundle, bytecode }, chunks, options.debug);
writeEmbed(join(output, "gen/embed.S"), "tools/bundle.ts", {
  ...{ chunks, places: imagePlaces(chunks), bytecode },
  resources: Object.entries(RESOURCES).filter(([, file]) => existsSync(file)),
  helper: process.env["RUNT_HELPER"] ?? "build/runt-init",
});
