/** From `npm install FILE.tgz` in an empty project to the end of its first run in a pool. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../test/support/programs.ts";

/** As docs/library/README.md has it. */
const PROGRAM = `import { Pool, sandbox } from "@runt-project/runt";
const [rootfs, stateDir] = process.argv.slice(2);
const pool = await Pool.open({ template: sandbox({ rootfs }), size: 1, stateDir });
const { stdout } = await pool.run({ cmd: "/bin/echo", args: ["first"] });
process.stdout.write(stdout);
await pool.close();
`;

/** Seconds. The library has to be built. @param directory an empty one is made below it */
export function installSeconds(directory: string, rootfs: string): number {
  const project = join(directory, "project");
  mkdirSync(project);
  const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", directory], {
    cwd: REPOSITORY,
    encoding: "utf8",
  });
  const file = join(directory, packed.trim().split("\n").at(-1)!);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
  writeFileSync(join(project, "first.mjs"), PROGRAM);
  const began = performance.now();
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", file], { cwd: project, stdio: "inherit" });
  const output = execFileSync(process.execPath, ["first.mjs", rootfs, join(directory, "first-pool")], { cwd: project, encoding: "utf8" });
  const seconds = (performance.now() - began) / 1000;
  if (output !== "first\n") throw new Error(`the first run has printed ${JSON.stringify(output)}`);
  return seconds;
}
