/**
 * src/runtd -> dist/runtd: the daemon in a few files, with what it runs of the engine and of npm's packages in them. Node takes half of a start to find, open and
 * compile five hundred modules one by one.
 *
 * package.json and bin/runtd name main.js, which loads program.js. The parsing thread runs worker.js. The tests start a daemon of serve.js and config.js that ends
 * itself at a given point. What these share, and what only some starts need, are files of their own beside them.
 *
 * Usage: tsx tools/bundle-daemon.ts (in the repository)
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { usedInputs } from "./bundle/inputs.ts";
import { bundledComponents } from "./sbom/component.ts";

const OUTPUT = "dist/runtd";

/** It finds its library of native code by its own place, so it stays a package (tools/install-programs.ts). */
const NATIVE = "@photostructure/sqlite";

/** Messages are English. The other languages of zod are a third of it. */
const english: Plugin = {
  name: "english",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export { default as en } from "./en.js";' })),
};

/** The licence of each package that the files contain parts of. */
function licences(inputs: readonly string[]): string {
  const parts = bundledComponents(inputs).map(
    ({ name, version, license, text }) => `${name} ${version}\nLicence: ${license}\n\n${readFileSync(text, "utf8").trim()}\n`,
  );
  return ["The files of runtd contain parts of these packages of npm.\n", ...parts.sort()].join(`\n${"-".repeat(80)}\n\n`);
}

rmSync(OUTPUT, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: {
    main: "src/runtd/main.ts",
    program: "src/runtd/program.ts",
    serve: "src/runtd/serve.ts",
    config: "src/runtd/config.ts",
    worker: "src/runtd/parsing/worker.ts",
  },
  outdir: OUTPUT,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  external: [NATIVE],
  // The names of files in the output must not depend on where node_modules is.
  preserveSymlinks: true,
  // Some packages are modules of CommonJS, and these require modules of Node.
  banner: { js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);' },
  plugins: [english],
  // They are in LICENSE.txt.
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
writeFileSync(join(OUTPUT, "LICENSE.txt"), licences(usedInputs(metafile.outputs)));
