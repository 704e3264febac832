/**
 * dist/runtctl/, as tsc has written it -> the same program in one file, client.js: a short-lived client spends most of its time finding and reading modules. The engine and pods, which few
 * verbs need, stay modules of their own, and so does yaml. commander goes into the file; its licence is in NOTICE. main.js runs it with the code that V8 has made of it, client.cache
 * (src/runtctl/cached-main.ts). It is a CommonJS module, whose loader takes less time than that of ES modules.
 *
 * Usage: tsx tools/bundle-client.ts [DIRECTORY] (in the repository, after tsc). DIRECTORY: in place of what tsc has written; of src/runtctl esbuild reads the sources.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build, type Plugin } from "esbuild";

const CLIENT = "dist/runtctl";
const BUNDLED = "dist/runtctl.new";

const [from = CLIENT] = process.argv.slice(2);
const kind = from === CLIENT ? "js" : "ts";

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

/** @param banner in front of it */
async function bundled(entry: string, banner: string): Promise<string> {
  const { outputFiles } = await build({
    ...{ entryPoints: [`${from}/${entry}.${kind}`], outdir: BUNDLED, write: false, bundle: true },
    ...{ format: "cjs", platform: "node", target: "node20", logLevel: "warning" },
    external: ["yaml"],
    // What import.meta.url is in an ES module.
    define: { "import.meta.url": "MODULE_URL" },
    banner: { js: banner },
    plugins: [separate, later],
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** A script has no modules of its own: what loads them comes from main.js. */
function asFunction(module: string): string {
  const text = module.replaceAll(/\bimport\((?=")/g, "load(");
  if (/\bimport\(/.test(text)) throw new Error("an import() whose module is not known when the client is built");
  if (/[^\0-\x7f]/.test(text)) throw new Error("the client has other characters than those of ASCII");
  const whole = `(function (require, load, MODULE_URL) {\nvar module = {};\n${text}})`;
  return `//${createHash("sha256").update(whole).digest("hex")}\n${whole}`;
}

/** Compiles what applying a file takes, by asking a daemon that is not there. */
const WARM = `
const { readFileSync, writeFileSync } = require("node:fs");
const path = process.argv[1];
const source = readFileSync(path + ".js", "utf8");
const script = new (require("node:vm").Script)(source, { filename: path + ".js" });
process.on("exit", () => writeFileSync(path + ".cache", Buffer.concat([Buffer.from(source.slice(0, source.indexOf("\\n") + 1)), script.createCachedData()])));
process.argv.splice(2, Infinity, "-s", "/dev/null/none", "apply", "-f", "/dev/null");
script.runInThisContext()(require, undefined, require("node:url").pathToFileURL(path + ".js").href);
`;

const main = await bundled("cached-main", 'const MODULE_URL = require("node:url").pathToFileURL(__filename).href;');
const client = asFunction(await bundled("main", ""));
rmSync(BUNDLED, { recursive: true, force: true });
mkdirSync(BUNDLED);
writeFileSync(`${BUNDLED}/main.js`, main);
writeFileSync(`${BUNDLED}/client.js`, client);
// The package above says that its files are ES modules.
writeFileSync(`${BUNDLED}/package.json`, `${JSON.stringify({ type: "commonjs" })}\n`);
chmodSync(`${BUNDLED}/main.js`, 0o755);
rmSync(CLIENT, { recursive: true, force: true });
renameSync(BUNDLED, CLIENT);
try {
  execFileSync(process.execPath, ["-e", WARM, resolve(CLIENT, "client")], { stdio: ["ignore", "ignore", "pipe"], env: {} });
} catch (error) {
  // It ends with the status for a daemon that does not answer.
  const { status, stderr } = error as { status: number | null; stderr: Buffer };
  if (status !== 3) throw new Error(`the client does not run: ${stderr}`);
}
