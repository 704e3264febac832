/**
 * How long `runtctl` takes, as root:
 *
 *   tsx bench/client.ts [--rounds N]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { baseLayer, writeLayout } from "../test/engine/image-files.ts";
import { BenchDaemon } from "./engine-daemon.ts";
import { describe, machine } from "./machine.ts";
import { summarize } from "./stats.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });

/** What is timed, and what is done afterwards without being timed. */
interface Scenario {
  readonly what: string;
  run(): Promise<number>;
  after?(): Promise<void>;
}

const work = mkdtempSync("/var/tmp/runt-bench-client-");
const daemon = new BenchDaemon();
try {
  mkdirSync(join(work, "image"));
  writeLayout(join(work, "image"), { layers: [baseLayer()], tag: "v1" });
  const image = `oci:${work}/image:v1`;
  const file = join(work, "one.yaml");
  writeFileSync(file, JSON.stringify({ name: "one", containers: [{ name: "main", image, command: "/bin/sleep", args: ["1000"] }] }));
  const compose = join(work, "compose.yaml");
  writeFileSync(
    compose,
    "services: { web: { image: docker.io/library/web:1, ports: [8080:80] }, db: { image: docker.io/library/db:1 } }\n",
  );
  const scenarios: readonly Scenario[] = [
    { what: "`--version`", run: () => daemon.ctl(["--version"]) },
    { what: "`validate -f`, a Compose file", run: () => daemon.ctl(["validate", "-f", compose]) },
    { what: "`get`", run: () => daemon.ctl(["get"]) },
    { what: "`apply -f`, one task", run: () => daemon.ctl(["apply", "-f", file]), after: () => daemon.remove(["one"]) },
    {
      what: "`run --rm`, without a network",
      run: () => daemon.ctl(["run", "--rm", "--network", "none", "--image", image, "--", "/bin/true"]),
    },
  ];
  await daemon.ready();
  console.log(`${describe(machine(resolve("bin/runt")))}\n`);
  console.log("| runtctl | rounds | milliseconds |\n| --- | ---: | ---: |");
  for (const { what, run, after } of scenarios) {
    const times: number[] = [];
    // The first round is not counted: it fills caches.
    for (let round = 0; round <= Number(values.rounds); round++) {
      const time = await run();
      await after?.();
      if (round > 0) times.push(time);
    }
    const { median, minimum } = summarize(times);
    console.log(`| ${what} | ${times.length} | ${median.toFixed(1)} (${minimum.toFixed(1)}) |`);
  }
  console.log("\nThe median, and in brackets the minimum.");
} finally {
  await daemon.end();
  rmSync(work, { recursive: true, force: true });
}
