/** How long engines take for a container, and for a pod: measured by test/engines, in its own surroundings. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Ratio } from "../test/engines/ratios.ts";
import { REPOSITORY } from "./namespace.ts";

/** Engine of test/engines, and its program. */
const PROGRAMS: Readonly<Record<string, string>> = { ctr: "ctr", podman: "podman", cri: "containerd" };

/** undefined, with a message, where no engine is installed. */
export function measureEngines(rounds: number, unified: boolean): readonly Ratio[] | undefined {
  const names = Object.keys(PROGRAMS);
  const present = names.filter((name) => existsSync(`/usr/bin/${PROGRAMS[name]}`));
  for (const name of names.filter((other) => !present.includes(other)))
    console.log(`${name}: skipped: it is not installed (tools/setup.sh engines)`);
  if (present.length === 0) return undefined;
  // /tmp is another one inside of that.
  const directory = mkdtempSync("/var/tmp/runt-bench-engines-");
  try {
    const file = join(directory, "ratios.json");
    const args = ["--engines", present.join(","), "--ratios", String(rounds), "--whole", "--json", file, ...(unified ? ["--unified"] : [])];
    spawnSync(process.execPath, [...process.execArgv, join(REPOSITORY, "test/engines/main.ts"), ...args], { stdio: "inherit" });
    if (!existsSync(file)) throw new Error("test/engines has measured nothing");
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
