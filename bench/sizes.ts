/** Sizes instead of times: system calls and instructions of each verb, memory of a `run` that waits, the smallest memory limit. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { countCalls } from "../test/support/count-calls.ts";
import { makeBundle } from "./bundles.ts";
import { type Side, TOOLS } from "./side.ts";

/** By verb, and by runtime; undefined where a runtime has no such verb. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number | undefined>>>>;

export interface Sizes {
  /** By runtime. */
  readonly waitingKib: Readonly<Record<string, number>>;
  /** Empty where no limit can be set. */
  readonly smallestLimitKib: Readonly<Record<string, number | undefined>>;
  readonly calls: Counts;
}

const LIMITS_KIB = [128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 16_384];
const ATTEMPTS = 5;
const WAITING_MS = 500;
/** How long a killed container may take to end. */
const END_MS = 50;
/** Time limit of a command that is counted step by step. */
const STEPS_MS = 1_800_000;

/** Verbs in the order of a container's life. `run` makes a container of its own. */
const LIFE = ["create", "start", "state", "list", "ps", "exec", "update", "pause", "resume", "events", "kill", "delete", "run"] as const;

function argumentsOf(verb: (typeof LIFE)[number], side: Side): string[] {
  const id = `life-${side.letter}`;
  const all: Record<(typeof LIFE)[number], string[]> = {
    create: ["create", "-b", side.bundle("sleep"), id],
    start: ["start", id],
    state: ["state", id],
    list: ["list"],
    ps: ["ps", "--format", "json", id],
    exec: ["exec", id, "/bin/true"],
    update: ["update", "--memory", "100663296", id],
    pause: ["pause", id],
    resume: ["resume", id],
    events: ["events", "--stats", id],
    kill: ["kill", id, "KILL"],
    delete: ["delete", id],
    run: ["run", "-b", side.bundle("true"), `${id}-run`],
  };
  return all[verb];
}

/** Calls `count` once for each verb of a container's life. */
async function live(sides: readonly Side[], count: (side: Side, command: string[]) => Promise<number | undefined>): Promise<Counts> {
  const verbs = LIFE.filter((verb) => verb !== "update" || sides.every(({ place }) => place.hasControllers));
  const counts: Record<string, Record<string, number | undefined>> = {};
  for (const side of sides) {
    try {
      for (const verb of verbs) {
        counts[verb] ??= {};
        if (verb === "events" && !side.has(verb)) counts[verb][side.name] = undefined;
        else counts[verb][side.name] = await count(side, [side.binary, "--root", side.root(), ...argumentsOf(verb, side)]);
        if (verb === "kill") await sleep(END_MS);
      }
    } finally {
      side.deleteAll();
    }
  }
  return counts;
}

export async function measureSizes(sides: readonly Side[]): Promise<Sizes> {
  const waitingKib: Record<string, number> = {};
  const smallestLimitKib: Record<string, number | undefined> = {};
  for (const side of sides) {
    waitingKib[side.name] = await waitingRss(side);
    if (side.place.hasControllers) smallestLimitKib[side.name] = smallestLimit(side);
  }
  const calls = await live(sides, (side, command) => countCalls(join(side.place.work, "strace"), command));
  return { waitingKib, smallestLimitKib, calls };
}

/**
 * Instructions in user space, with all processes of a verb, the container's `true` too (steps.c). A minute for each of the greater verbs; of
 * runc, a multiple: it is left out.
 */
export async function measureInstructions(sides: readonly Side[]): Promise<Counts> {
  return await live(sides, async (side, command) => measureSteps(join(side.place.work, "steps"), command));
}

/** Instructions in user space of this command and all that it starts; `file` is for the result. @throws Error if it fails */
export function measureSteps(file: string, command: readonly string[]): number {
  const { status, error } = spawnSync(join(TOOLS, "steps"), [file, ...command], { stdio: "ignore", timeout: STEPS_MS });
  if (error || status !== 0) throw new Error(`steps ${command.join(" ")}: ${error ?? `status ${status}`}`);
  const [instructions = 0, , ended] = readFileSync(file, "utf8").split(/\s+/).map(Number);
  if (ended !== 0) throw new Error(`${command.join(" ")}: status ${ended}`);
  return instructions;
}

async function waitingRss(side: Side): Promise<number> {
  const child = spawn(side.binary, ["--root", side.root(), "run", "-b", side.bundle("sleep"), "wait"], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await sleep(WAITING_MS);
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  execFileSync(side.binary, ["--root", side.root(), "kill", "wait", "KILL"]);
  await ended;
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
}

function smallestLimit(side: Side): number | undefined {
  for (const limit of LIMITS_KIB) {
    const name = `${side.letter}-limit-${limit}`;
    const bundle = makeBundle(side.place.work, name, "plain", ["/bin/true"], `/${side.place.cgroup}/${side.letter}-limit`, (spec) => {
      spec.linux.resources = { ...spec.linux.resources, memory: { limit: limit * 1024 } };
    });
    const start = () => spawnSync(side.binary, ["--root", side.root(), "run", "-b", bundle, "limit"], { stdio: "ignore" }).status === 0;
    let passed = 0;
    while (passed < ATTEMPTS && start()) passed++;
    spawnSync(side.binary, ["--root", side.root(), "delete", "--force", "limit"], { stdio: "ignore" });
    if (passed === ATTEMPTS) return limit;
  }
  return undefined;
}
