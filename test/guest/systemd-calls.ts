/**
 * create, run and delete of a container in a unit of systemd's: system calls, what is sent to systemd, and times in turns, of runt, crun and runc.
 * Run in the guest, or beside a systemd of its own (bench/systemd.sh), as root.
 *   --instructions  instead: those of runt and crun, by single steps (bench/steps.c), which takes minutes for each verb
 *   --crun PATH     another crun than the machine's
 *   --rounds N      of the times (9)
 *   --json FILE     write { runt: { VERB: { result } }, systemd: { VERB: { RUNTIME: Cost } } }
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureSteps } from "../../bench/sizes.ts";
import { summarize } from "../../bench/stats.ts";
import { sampleConfig } from "../support/config.ts";
import { countCalls } from "../support/count-calls.ts";
import { hasControllers } from "../support/hierarchies.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";
import { busUse } from "./bus-sends.ts";

export interface Cost {
  /** System calls up to the verb's end, and of them sends to systemd or the bus. */
  readonly calls: number;
  readonly sends: number;
  /** Of the times in turns. */
  readonly medianMs: number;
  readonly minimumMs: number;
}

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    instructions: { type: "boolean", default: false },
    crun: { type: "string", default: "/usr/bin/crun" },
    rounds: { type: "string", default: "9" },
  },
});
const RUNTIMES = { runt: join(REPOSITORY, "bin/runt"), crun: values.crun, runc: "/usr/sbin/runc" } as const;
type Runtime = keyof typeof RUNTIMES;
const NAMES = Object.keys(RUNTIMES) as Runtime[];

const directory = mkdtempSync(join(tmpdir(), "runt-systemd-"));

function bundle(name: string): string {
  const path = join(directory, name);
  const config = sampleConfig("limited");
  config.process.args = ["/bin/true"];
  if (!hasControllers()) config.linux.resources = { devices: config.linux.resources["devices"] };
  config.root.path = sharedRootfs();
  config.linux.cgroupsPath = `system.slice:runt-calls:${name}`;
  mkdirSync(path);
  writeFileSync(join(path, "config.json"), JSON.stringify(config));
  return path;
}

const bundles = Object.fromEntries(NAMES.map((name) => [name, bundle(name)])) as Record<Runtime, string>;
const command = (name: Runtime, ...words: string[]) => [
  RUNTIMES[name],
  "--root",
  join(directory, `root-${name}`),
  "--systemd-cgroup",
  ...words,
];
const VERBS: Readonly<Record<string, (name: Runtime) => string[]>> = {
  create: (name) => command(name, "create", "-b", bundles[name], `c-${name}`),
  delete: (name) => command(name, "delete", "--force", `c-${name}`),
  run: (name) => command(name, "run", "-b", bundles[name], `r-${name}`),
};

async function counted(name: Runtime, verb: string): Promise<Pick<Cost, "calls" | "sends">> {
  const file = join(directory, `${name}-${verb}.trace`);
  const calls = (await countCalls(file, VERBS[verb]!(name))) ?? 0;
  return { calls, sends: busUse(readFileSync(file, "utf8")).sends };
}

function timed(name: Runtime, verb: string): number {
  const [file = "", ...args] = VERBS[verb]!(name);
  const began = process.hrtime.bigint();
  // Output is discarded: a container would keep a pipe open.
  execFileSync(file, args, { stdio: "ignore" });
  return Number(process.hrtime.bigint() - began) / 1e6;
}

/** All processes of a verb in user space, `true` in the container too. runc takes several times as long as the others. */
function instructions(): Record<string, Record<string, number>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const verb in VERBS)
    for (const name of ["runt", "crun"] as const) {
      counts[verb] = { ...counts[verb], [name]: measureSteps(join(directory, "steps"), VERBS[verb]!(name)) };
      console.log(verb, name, counts[verb][name]);
    }
  return counts;
}

async function costs(): Promise<boolean> {
  const systemd: Record<string, Record<string, Cost>> = {};
  for (const verb in VERBS) {
    systemd[verb] = {};
    for (const name of NAMES) systemd[verb][name] = { ...(await counted(name, verb)), medianMs: 0, minimumMs: 0 };
  }
  const times = new Map<string, number[]>(Object.keys(VERBS).flatMap((verb) => NAMES.map((name) => [`${verb} ${name}`, []])));
  for (let round = 0; round < Number(values.rounds); round++)
    for (const verb in VERBS) for (const name of NAMES) times.get(`${verb} ${name}`)!.push(timed(name, verb));
  for (const verb in VERBS)
    for (const name of NAMES) {
      const { median, minimum } = summarize(times.get(`${verb} ${name}`)!);
      systemd[verb]![name] = { ...systemd[verb]![name]!, medianMs: median, minimumMs: minimum };
    }
  const runt = Object.fromEntries(
    Object.entries(systemd).map(([verb, costs]) => [
      verb,
      { result: costs["runt"]!.sends > 0 && costs["crun"]!.sends > 0 ? "passed" : "failed" },
    ]),
  );
  console.log(JSON.stringify(systemd, null, 1));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ runt, systemd }, null, 1)}\n`);
  return Object.values(runt).every(({ result }) => result === "passed");
}

try {
  if (values.instructions) console.log(JSON.stringify(instructions(), null, 1));
  else if (!(await costs())) process.exitCode = 1;
} finally {
  for (const name of NAMES) {
    const [file = "", ...args] = VERBS["delete"]!(name);
    spawnSync(file, args, { stdio: "ignore" });
  }
  rmSync(directory, { recursive: true, force: true });
}
