/**
 * System calls of every verb, by strace, of runt beside crun: run in the guest, on its cgroup version.
 *   --json FILE   write them: { runt: { VERB: { result, runt, crun } } }
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sampleConfig } from "../support/config.ts";
import { countCalls } from "../support/count-calls.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";

export interface VerbCalls {
  readonly result: "passed" | "failed";
  readonly runt: number;
  readonly crun: number;
}

const RUNTIMES = { runt: join(REPOSITORY, "bin/runt"), crun: "/usr/bin/crun" } as const;
const VERB_MS = 30_000;
const POLL_MS = 20;

/** In the order of a life; `{id}` and `{bundle}` are put in. */
const LIFE: Readonly<Record<string, readonly string[]>> = {
  create: ["create", "-b", "{bundle}", "{id}"],
  start: ["start", "{id}"],
  state: ["state", "{id}"],
  list: ["list"],
  ps: ["ps", "--format", "json", "{id}"],
  exec: ["exec", "{id}", "/bin/true"],
  update: ["update", "--memory", "100663296", "{id}"],
  pause: ["pause", "{id}"],
  resume: ["resume", "{id}"],
  kill: ["kill", "{id}", "KILL"],
  delete: ["delete", "{id}"],
};

function makeBundle(directory: string, name: string, args: readonly string[]): string {
  const path = join(directory, name);
  const config = sampleConfig("limited");
  config.process.args = [...args];
  config.root.path = sharedRootfs();
  config.linux.cgroupsPath = `/runt-calls/${name}`;
  mkdirSync(path);
  writeFileSync(join(path, "config.json"), JSON.stringify(config));
  return path;
}

async function measure(name: keyof typeof RUNTIMES, directory: string): Promise<Record<string, number | undefined>> {
  const runtime = [RUNTIMES[name], "--root", join(directory, `root-${name}`)];
  const calls: Record<string, number | undefined> = {};
  const staying = makeBundle(directory, `${name}-life`, ["/bin/sleep", "1000"]);
  const short = makeBundle(directory, `${name}-run`, ["/bin/true"]);
  for (const verb in LIFE) {
    const args = (LIFE[verb] ?? []).map((word) => word.replace("{bundle}", staying).replace("{id}", `calls-${name}`));
    console.log(`${name} ${verb}`);
    calls[verb] = await countCalls(join(directory, `${name}-${verb}`), [...runtime, ...args]);
    // What comes after depends on the time that the container takes to end.
    if (verb === "kill") await stopped([...runtime, "state", `calls-${name}`]);
  }
  spawnSync(runtime[0] ?? "", [...runtime.slice(1), "delete", "--force", `calls-${name}`], { stdio: "ignore" });
  calls["run"] = await countCalls(join(directory, `${name}-run.trace`), [...runtime, "run", "-b", short, `run-${name}`]);
  return calls;
}

async function stopped([file = "", ...args]: readonly string[]): Promise<void> {
  const deadline = Date.now() + VERB_MS;
  while (!spawnSync(file, args, { encoding: "utf8" }).stdout.includes("stopped") && Date.now() < deadline) await sleep(POLL_MS);
}

const { values } = parseArgs({ options: { json: { type: "string" } } });
const directory = mkdtempSync(join(tmpdir(), "runt-calls-"));
try {
  const [runt, crun] = [await measure("runt", directory), await measure("crun", directory)];
  const verbs = Object.fromEntries(
    Object.keys(runt).map((verb): [string, VerbCalls] => {
      const [own = 0, other = 0] = [runt[verb], crun[verb]];
      return [verb, { result: own > 0 && other > 0 ? "passed" : "failed", runt: own, crun: other }];
    }),
  );
  console.table(verbs);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ runt: verbs }, null, 1)}\n`);
  process.exitCode = Object.values(verbs).every(({ result }) => result === "passed") ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
