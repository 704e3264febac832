/**
 * Writes client.cache and parsers.cache: what V8 compiles of the client when a Compose file is applied, by asking a daemon that is not there, and of its parsers when they also read a pod
 * and a task. Runs in a Node without options, because V8 takes the code only with the options that it had.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import type * as Parsers from "../../src/runtctl/on-node/parsers.ts";
import type { Program } from "../../src/runtctl/program-function.ts";

const [, directory = "", samples = ""] = process.argv;
const HOST = { name: "host", cpus: 1, memoryBytes: 2 ** 30, images: undefined };

/** Its code is kept when this process ends. */
function programOf(name: string): (load?: () => Promise<unknown>) => unknown {
  const path = join(directory, `${name}.js`);
  const source = readFileSync(path, "latin1");
  const script = new Script(source, { filename: path });
  const digest = source.slice(0, source.indexOf("\n") + 1);
  process.on("exit", () =>
    writeFileSync(join(directory, `${name}.cache`), Buffer.concat([Buffer.from(digest), script.createCachedData()])),
  );
  return (load) => (script.runInThisContext() as Program)(createRequire(path), load, pathToFileURL(path).href);
}

async function warm(): Promise<void> {
  const parsers = programOf("parsers")() as typeof Parsers;
  const { parseFile } = await parsers.files();
  for (const name of ["pod.yaml", "task.yaml"]) {
    const { findings } = parseFile(readFileSync(join(samples, name), "utf8"), HOST);
    if (findings.length > 0) throw new Error(`${name}: ${JSON.stringify(findings)}`);
  }
  process.argv.splice(2, Number.POSITIVE_INFINITY, "-s", "/dev/null/none", "apply", "-f", join(samples, "compose.yaml"));
  programOf("client")(async () => parsers);
}
void warm();
