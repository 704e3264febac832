/**
 * How long `runtctl` takes, as an executable and as a program of Node, as root:
 *
 *   tsx bench/client.ts [--rounds N]
 *
 * Both ask the same daemon, in turns.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { baseLayer, writeLayout } from "../test/engine/image-files.ts";
import { BenchDaemon, CLIENTS, type Client } from "./engine-daemon.ts";
import { describe, machine } from "./machine.ts";
import { median, summarize } from "./stats.ts";

// Node reads these at each start.
delete process.env["NODE_EXTRA_CA_CERTS"];

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });

/** What is timed, and what is done afterwards without being timed. */
interface Scenario {
  readonly what: string;
  run(client: Client): Promise<number>;
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
  const scenarios: readonly Scenario[] = [
    { what: "`--version`", run: (client) => daemon.ctl(["--version"], client) },
    { what: "`get`", run: (client) => daemon.ctl(["get"], client) },
    { what: "`apply -f`, one task", run: (client) => daemon.ctl(["apply", "-f", file], client), after: () => daemon.remove(["one"]) },
    {
      what: "`run --rm`, without a network",
      run: (client) => daemon.ctl(["run", "--rm", "--network", "none", "--image", image, "--", "/bin/true"], client),
    },
  ];
  await daemon.ready();
  console.log(`Node ${process.versions.node}. ${describe(machine(resolve("bin/runt")))}\n`);
  console.log("| runtctl | rounds | executable | on Node | ratio |\n| --- | ---: | ---: | ---: | ---: |");
  for (const { what, run, after } of scenarios) {
    const rounds: (readonly [native: number, node: number])[] = [];
    // The first round is not counted: it fills caches.
    for (let round = 0; round <= Number(values.rounds); round++) {
      const times = { native: 0, node: 0 };
      for (const side of round % 2 === 0 ? (["native", "node"] as const) : (["node", "native"] as const)) {
        times[side] = await run(CLIENTS[side]);
        await after?.();
      }
      if (round > 0) rounds.push([times.native, times.node]);
    }
    const cells = [0, 1].map((side) => summarize(rounds.map((round) => round[side]!)));
    const ratio = median(rounds.map(([native, node]) => native / node));
    console.log(
      `| ${[what, rounds.length, ...cells.map((one) => `${one.median.toFixed(1)} (${one.minimum.toFixed(1)})`), ratio.toFixed(2)].join(" | ")} |`,
    );
  }
  console.log("\nRatios: the median of those of each round. Times: milliseconds, the median and in brackets the minimum.");
} finally {
  await daemon.end();
  rmSync(work, { recursive: true, force: true });
}
