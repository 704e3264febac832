/**
 * dist/runtctl/, as tsc has written it -> the same program in one file: a short-lived client spends most of its time finding and reading modules. The engine and pods, which few verbs
 * need, stay modules of their own, and so does yaml. commander goes into the file; its licence is in NOTICE. The file is a CommonJS module, whose loader takes less time than that of ES
 * modules.
 *
 * Usage: tsx tools/bundle-client.ts [ENTRY] (in the repository, after tsc). ENTRY: in place of what tsc has written; of src/runtctl/main.ts esbuild reads the sources.
 */
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { build, type Plugin } from "esbuild";

const CLIENT = "dist/runtctl";
const BUNDLED = "dist/runtctl.new";

const [entry = `${CLIENT}/main.js`] = process.argv.slice(2);

/** `import("../../pod/index.js")` of a verb is "../pod/index.js" of the program. */
const separate: Plugin = {
  name: "separate",
  setup({ onResolve }) {
    onResolve({ filter: /\/(?:engine|pod)\/index\.[jt]s$/ }, ({ path, kind }) => {
      if (kind !== "dynamic-import") return { errors: [{ text: `${path} is for import() only: every start would load it` }] };
      return { path: path.replace(/^(?:\.\.\/)+/, "../").replace(/ts$/, "js"), external: true };
    });
  },
};

/** commander starts programs for subcommands that are programs; here there are none, and the module takes 2 ms of each start. */
const later: Plugin = {
  name: "later",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
      importer.includes("/node_modules/commander/") ? { path, namespace: "later" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "later" }, ({ path }) => ({
      contents: `exports.spawn = (...args) => require(${JSON.stringify(path)}).spawn(...args);`,
    }));
  },
};

await build({
  entryPoints: [entry],
  outdir: BUNDLED,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  external: ["yaml"],
  // What import.meta.url is in an ES module.
  define: { "import.meta.url": "MODULE_URL" },
  banner: { js: 'const MODULE_URL = require("node:url").pathToFileURL(__filename).href;' },
  plugins: [separate, later],
  logLevel: "warning",
});
rmSync(CLIENT, { recursive: true });
renameSync(BUNDLED, CLIENT);
// The package above says that its files are ES modules.
writeFileSync(`${CLIENT}/package.json`, `${JSON.stringify({ type: "commonjs" })}\n`);
chmodSync(`${CLIENT}/main.js`, 0o755);
