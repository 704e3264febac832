/**
 * src/runtctl -> dist/runtctl/, the client on Node in two files: a short-lived client spends most of its time finding and reading modules. client.js has what every verb takes, and
 * commander; parsers.js what few take, the parsers of files with zod and yaml. Their licences are in NOTICE. main.js runs both with the code that V8 has made of them, client.cache and
 * parsers.cache (src/runtctl/cached-main.ts). It is a CommonJS module, whose loader takes less time than that of ES modules.
 *
 * Usage: tsx tools/bundle-client.ts [--uncached] (in the repository). --uncached: without what V8 makes of them
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { build, type Plugin } from "esbuild";
import { seeThroughIndexes } from "./see-through.ts";

const SOURCES = "src/runtctl";
const CLIENT = "dist/runtctl";
const BUNDLED = "dist/runtctl.new";

const { values } = parseArgs({ options: { uncached: { type: "boolean", default: false } } });

/** What client.js leaves to parsers.js. */
const apart: Plugin = {
  name: "apart",
  setup({ onResolve }) {
    onResolve({ filter: /\/on-node\/parsers\.ts$|^\.\/parsers\.ts$/ }, ({ path, kind }) => {
      if (kind !== "dynamic-import") return { errors: [{ text: `${path} is for import() only: every start would load it` }] };
      return { path: "./parsers.js", external: true };
    });
    onResolve({ filter: /\/(?:engine|pod)\/index\.ts$|^(?:zod|yaml)$/ }, ({ path }) => ({
      errors: [{ text: `${path} is for src/runtctl/on-node/parsers: every start would load it` }],
    }));
  },
};

/** Messages are English. The other languages of zod are a quarter of what would be read at each start. */
const english: Plugin = {
  name: "english",
  setup({ onLoad }) {
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export { default as en } from "./en.js";' }));
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

interface Bundle {
  readonly plugins?: readonly Plugin[];
  /** In front of it. */
  readonly banner?: string;
  /** Without comments and white space. */
  readonly isDense?: boolean;
}

async function bundled(entry: string, { plugins = [], banner = "", isDense = false }: Bundle = {}): Promise<string> {
  const { outputFiles } = await build({
    ...{ entryPoints: [`${SOURCES}/${entry}.ts`], outdir: BUNDLED, write: false, bundle: true },
    ...{ format: "cjs", platform: "node", target: "node20", logLevel: "warning" },
    // What import.meta.url is in an ES module.
    define: { "import.meta.url": "MODULE_URL" },
    banner: { js: banner },
    minifyWhitespace: isDense,
    plugins: [...plugins, seeThroughIndexes({ testing: false })],
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** A script has no modules of its own: what loads them comes from main.js. */
function asFunction(module: string): string {
  const text = module.replaceAll('import("./parsers.js")', "load()");
  if (/\bimport\(/.test(text)) throw new Error("an import() whose module is not known when the client is built");
  if (/[^\0-\x7f]/.test(text)) throw new Error("the client has other characters than those of ASCII");
  const whole = `(function (require, load, MODULE_URL) {\nvar module = {};\n${text}return module.exports;\n})`;
  return `//${createHash("sha256").update(whole).digest("hex")}\n${whole}`;
}

const main = await bundled("cached-main", { banner: 'const MODULE_URL = require("node:url").pathToFileURL(__filename).href;' });
const client = asFunction(await bundled("main", { plugins: [apart, later] }));
const parsers = asFunction(await bundled("on-node/parsers", { plugins: [english], isDense: true }));
rmSync(BUNDLED, { recursive: true, force: true });
mkdirSync(BUNDLED);
writeFileSync(`${BUNDLED}/main.js`, main);
writeFileSync(`${BUNDLED}/client.js`, client);
writeFileSync(`${BUNDLED}/parsers.js`, parsers);
// The package above says that its files are ES modules.
writeFileSync(`${BUNDLED}/package.json`, `${JSON.stringify({ type: "commonjs" })}\n`);
chmodSync(`${BUNDLED}/main.js`, 0o755);
rmSync(CLIENT, { recursive: true, force: true });
renameSync(BUNDLED, CLIENT);
if (!values.uncached) await compile();

/** Runs them once, for V8's code. */
async function compile(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: ["tools/bundle-client/warm.ts"],
    write: false,
    bundle: true,
    format: "cjs",
    platform: "node",
  });
  const words = ["-e", outputFiles[0]!.text, resolve(CLIENT), resolve("tools/bundle-client")];
  const { status, stderr } = spawnSync(process.execPath, words, { stdio: ["ignore", "ignore", "pipe"], env: {} });
  // The status for a daemon that does not answer.
  if (status !== 3) throw new Error(`the client does not run: ${stderr}`);
}
