/** The daemon in a few files, with what it runs of the engine and of npm's packages in them (tools/bundle-daemon.ts), and what is installed beside them. */
import { join } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";

export const DAEMON_OUTPUT = "dist/runtd";

/** It finds its library of native code by its own place, so it stays a package. */
const NATIVE = "@photostructure/sqlite";

/** Packages that are installed as they are; node-addon-api, which the first depends on too, are headers. */
export const INSTALLED_PACKAGES: readonly string[] = [NATIVE, "node-gyp-build"].map((name) => join("node_modules", name));

/** Messages are English. The other languages of zod are a third of it. */
const english: Plugin = {
  name: "english",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export { default as en } from "./en.js";' })),
};

/** @param write whether the files are written, or only looked at */
export async function bundleDaemon(write: boolean): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: {
      main: "src/runtd/main.ts",
      program: "src/runtd/program.ts",
      serve: "src/runtd/serve.ts",
      config: "src/runtd/config.ts",
      worker: "src/runtd/parsing/worker.ts",
    },
    outdir: DAEMON_OUTPUT,
    write,
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
  return metafile;
}
