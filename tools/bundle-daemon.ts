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
import { bundleDaemon, DAEMON_OUTPUT } from "./bundle/daemon.ts";
import { usedInputs } from "./bundle/inputs.ts";
import { bundledComponents } from "./sbom/component.ts";

/** The licence of each package that the files contain parts of. */
function licences(inputs: readonly string[]): string {
  const parts = bundledComponents(inputs).map(
    ({ name, version, license, text }) => `${name} ${version}\nLicence: ${license}\n\n${readFileSync(text, "utf8").trim()}\n`,
  );
  return ["The files of runtd contain parts of these packages of npm.\n", ...parts.sort()].join(`\n${"-".repeat(80)}\n\n`);
}

rmSync(DAEMON_OUTPUT, { recursive: true, force: true });
const { outputs } = await bundleDaemon(true);
writeFileSync(join(DAEMON_OUTPUT, "LICENSE.txt"), licences(usedInputs(outputs)));
