/**
 * dist/runtctl/, as tsc has written it -> the same program in a few files: a short-lived client spends most of its time finding and reading modules. The engine and pods, which few verbs
 * need, stay modules of their own, and so do npm packages, whose licences say that they are passed on with their texts.
 *
 * Usage: tsx tools/bundle-client.ts (in the repository, after tsc)
 */
import { chmodSync, renameSync, rmSync } from "node:fs";
import { build, type Plugin } from "esbuild";

const CLIENT = "dist/runtctl";
const BUNDLED = "dist/runtctl.new";

/** `import("../../pod/index.js")` of a verb is "../pod/index.js" of the program. */
const separate: Plugin = {
  name: "separate",
  setup({ onResolve }) {
    onResolve({ filter: /\/(?:engine|pod)\/index\.js$/ }, ({ path, kind }) => {
      if (kind !== "dynamic-import") return { errors: [{ text: `${path} is for import() only: every start would load it` }] };
      return { path: path.replace(/^(?:\.\.\/)+/, "../"), external: true };
    });
  },
};

await build({
  entryPoints: [`${CLIENT}/main.js`],
  outdir: BUNDLED,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  plugins: [separate],
  logLevel: "warning",
});
rmSync(CLIENT, { recursive: true });
renameSync(BUNDLED, CLIENT);
chmodSync(`${CLIENT}/main.js`, 0o755);
