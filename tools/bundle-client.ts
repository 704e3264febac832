/**
 * src/runtctl/main.ts -> build/client/gen/embed.S, by way of build/client/bundle/*.js and build/client/bytecode/*.bin: the client of the daemon, as tools/bundle.ts makes bin/runt.
 *
 * Two modules: "program" with all that `runtctl` does, the parsers of files too, which is evaluated when the engine image is made; and "main", which calls it at every start.
 *
 * Usage: tsx tools/bundle-client.ts [--debug] (in the repository; build/bytecode-compiler must exist)
 */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { IMAGE_PLACE } from "../src/shared/protocol/index.ts";
import { compile } from "./bundle/bytecode.ts";
import { writeEmbed } from "./bundle/embed.ts";
import { writeInputs } from "./bundle/inputs.ts";
import { TARGET } from "./bundle/target.ts";

const output = resolve("build/client");
const bundle = join(output, "bundle");
const bytecode = join(output, "bytecode");
const platform = (name: string) => resolve("src/runtctl/platform", `${name}.ts`);
/** What commander has of Node in `bin/runt`, too. */
const shim = (name: string) => resolve("src/runtime/host/shims", `${name}.ts`);
const { values: options } = parseArgs({ options: { debug: { type: "boolean", default: false } } });

/** The executable has one host module, under one name. */
const oneHost: Plugin = {
  name: "one-host",
  setup: ({ onResolve }) => onResolve({ filter: /^runt:client$/ }, () => ({ path: "runt:host", external: true })),
};

const PACKAGES = /^(?:commander|zod|yaml)(?:\/|$)/;
/** Where what Node has is used, and has a part in its place. */
const USERS = /\/node_modules\/(?:commander|zod|yaml)\/|\/src\/(?:pod|engine\/spec)\//;

/** The engine's index names all of the engine. What nobody uses of it is left out, and with it what is of Node; that nothing of Node is left is checked below. */
const withoutNode: Plugin = {
  name: "without-node",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[@a-z]/ }, ({ path, importer, kind }) =>
      kind === "entry-point" || PACKAGES.test(path) || USERS.test(importer) ? undefined : { path, external: true, sideEffects: false },
    ),
};

/** "main" finds the program beside it, in the image. */
const besideProgram: Plugin = {
  name: "beside-program",
  setup: ({ onResolve }) => onResolve({ filter: /^\.\/command\.ts$/ }, () => ({ path: "./program.js", external: true })),
};

/** Messages are English. The other languages of zod are a third of it. */
const english: Plugin = {
  name: "english",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export { default as en } from "./en.js";' })),
};

async function bundled(name: string, entry: string, plugins: readonly Plugin[]): Promise<Metafile["outputs"]> {
  const { metafile } = await build<BuildOptions & { metafile: true }>({
    ...{ entryPoints: [entry], outfile: join(bundle, `${name}.js`), bundle: true, metafile: true, logLevel: "warning" },
    ...{ format: "esm", platform: "neutral", mainFields: ["module", "main"], target: "es2023" },
    ...{ minifySyntax: true, minifyWhitespace: !options.debug, legalComments: "none", preserveSymlinks: true },
    inject: [platform("globals")],
    define: { "process.arch": JSON.stringify(TARGET.architecture) },
    plugins: [...plugins, oneHost, withoutNode, english],
    alias: {
      "node:process": shim("process"),
      "node:crypto": platform("crypto"),
      "node:events": shim("events"),
      "node:path": shim("path"),
      "node:fs": shim("none"),
      "node:child_process": shim("none"),
    },
  });
  const foreign = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.flatMap(({ path }) => (["runt:host", "./program.js"].includes(path) ? [] : path)),
  );
  if (foreign.length > 0) throw new Error(`${entry} uses what is not in the executable: ${foreign.join(", ")}`);
  return metafile.outputs;
}

rmSync(bundle, { recursive: true, force: true });
const outputs = [await bundled("program", "src/runtctl/command.ts", []), await bundled("main", "src/runtctl/main.ts", [besideProgram])];
writeInputs(join(output, "bundle-inputs.txt"), Object.assign({}, ...outputs));
const names = ["program", "main"];
compile({ bundle, bytecode }, names, options.debug);
writeEmbed(join(output, "gen/embed.S"), "tools/bundle-client.ts", { names, places: [IMAGE_PLACE.evaluated, IMAGE_PLACE.read], bytecode });
