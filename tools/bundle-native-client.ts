/**
 * src/runtctl/native-main.ts -> build/client/gen/embed.S, by way of build/client/bundle/*.js and build/client/bytecode/*.bin: the client of the daemon as part of bin/runtctl.
 *
 * Of its two platforms it has the native one. What only Node has is left out: `onNode(() => import("..."))` of the source becomes `onNode()`, which hands over to the client on Node.
 *
 * Usage: tsx tools/bundle-native-client.ts [--debug] (in the repository; build/bytecode-compiler must exist)
 */
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build, type Plugin } from "esbuild";
import { IMAGE_PLACE } from "../src/shared/protocol/index.ts";
import { compile } from "./bundle/bytecode.ts";
import { chunksOf, reach, replaceDynamicImports, writeInputs } from "./bundle/chunks.ts";
import { writeEmbed } from "./bundle/embed.ts";
import { seeThroughIndexes } from "./see-through.ts";

const MAIN = "main";
const output = resolve("build/client");
const bundle = join(output, "bundle");
const bytecode = join(output, "bytecode");
const client = (path: string) => resolve("src/runtctl", path);
/** What commander has of Node in `bin/runt`, too. */
const shim = (name: string) => resolve("src/runtime/host/shims", `${name}.ts`);
const { values: options } = parseArgs({ options: { debug: { type: "boolean", default: false } } });

const LEFT_OUT = /\bonNode\(\(\) => import\("[^"]+"\)\)/g;

const native: Plugin = {
  name: "native",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\.\/node\/index\.ts$/ }, ({ resolveDir }) =>
      resolveDir === client("platform") ? { path: client("platform/native/index.ts"), sideEffects: true } : undefined,
    );
    // The executable has one host module, under one name.
    onResolve({ filter: /^runt:client$/ }, () => ({ path: "runt:host", external: true }));
    onLoad({ filter: /\/src\/runtctl\/.*\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8").replace(LEFT_OUT, "onNode()"),
    }));
  },
};

rmSync(bundle, { recursive: true, force: true });
const { metafile } = await build({
  ...{ entryPoints: { [MAIN]: client("native-main.ts") }, outdir: bundle, chunkNames: "[name]-[hash]" },
  ...{ bundle: true, splitting: true, format: "esm", platform: "neutral", mainFields: ["module", "main"], target: "es2023" },
  ...{ minifySyntax: true, minifyWhitespace: !options.debug, legalComments: "none", preserveSymlinks: true },
  ...{ metafile: true, logLevel: "warning" },
  inject: [client("platform/native/buffer.ts")],
  plugins: [native, seeThroughIndexes({ testing: false })],
  alias: {
    "node:process": client("platform/native/commander.ts"),
    "node:events": shim("events"),
    "node:path": shim("path"),
    "node:fs": shim("none"),
    "node:child_process": shim("none"),
  },
});
writeInputs(join(output, "bundle-inputs.txt"), metafile.outputs);

const all = chunksOf(metafile.outputs);
const byName = new Map(all.map((chunk) => [chunk.name, chunk]));
// What every start needs comes first.
const names = all.reduce((order, { name }) => reach(byName, name, order), reach(byName, MAIN, new Set<string>()));
const chunks = [...names].map((name) => byName.get(name)!);
replaceDynamicImports(bundle, chunks);
compile({ bundle, bytecode }, [...names], options.debug);
writeEmbed(join(output, "gen/embed.S"), "tools/bundle-native-client.ts", {
  names: [...names],
  places: chunks.map(({ name, source }) => (source === undefined || name === MAIN ? IMAGE_PLACE.read : IMAGE_PLACE.evaluated)),
  bytecode,
});
