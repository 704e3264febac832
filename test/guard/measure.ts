/** Counting: every verb in the order of a container's life, once under each instrument. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { REPOSITORY } from "../support/programs.ts";
import type { Counts } from "./ceilings.ts";
import { countCalls } from "./count-calls.ts";
import { type Cgroups, type Setup, setUp } from "./setup.ts";

/** A call of runt, and what has to happen before it. */
interface Step {
  readonly verb: string;
  readonly args: readonly string[];
  /** The container's own process goes on: whoever traces it too must not wait for its end. */
  readonly leavesProcess?: boolean;
  /** Only valgrind: it cannot follow where the process replaces itself by the monitor. */
  readonly underValgrind?: readonly string[];
  /** What needs no controller, for cgroups that have none. */
  readonly withoutControllers?: readonly string[];
  readonly before?: (setup: Setup) => Promise<unknown>;
}

const TRUE = "/bin/true";
const stopped = async (setup: Setup) => {
  for (let left = 500; left > 0; left--) {
    if ((await setup.run([...setup.runt, "state", "c"])).includes('"stopped"')) return;
    await sleep(10);
  }
  throw new Error("the container does not stop");
};

const LIFE: readonly Step[] = [
  {
    verb: "create",
    args: ["create", "--bundle", "/guard/bundle", "c"],
    leavesProcess: true,
  },
  { verb: "state", args: ["state", "c"] },
  { verb: "list", args: ["list"] },
  { verb: "start", args: ["start", "c"] },
  { verb: "ps", args: ["ps", "--format", "json", "c"] },
  { verb: "pause", args: ["pause", "c"] },
  { verb: "resume", args: ["resume", "c"] },
  { verb: "update", args: ["update", "--pids-limit", "100", "c"], withoutControllers: ["update", "--resources", "/guard/depth.json", "c"] },
  { verb: "exec", args: ["exec", "c", TRUE], underValgrind: ["exec", "--detach", "c", TRUE] },
  { verb: "kill", args: ["kill", "c", "KILL"] },
  { verb: "delete", args: ["delete", "c"], before: stopped },
  {
    verb: "run",
    args: ["run", "--bundle", "/guard/short", "c"],
    underValgrind: ["run", "--detach", "--bundle", "/guard/short", "c"],
  },
];

/** Counts of one instrument by verb. */
type Instrument = (setup: Setup, step: Step) => Promise<Counts>;

async function live(setup: Setup, instrument: Instrument): Promise<Counts> {
  let counts: Counts = {};
  for (const step of LIFE) {
    await step.before?.(setup);
    const { args, withoutControllers = args } = step;
    counts = { ...counts, ...(await instrument(setup, setup.cgroups === "bare v2" ? { ...step, args: withoutControllers } : step)) };
  }
  await setup.run([...setup.runt, "delete", "--force", "c"]);
  return counts;
}

/** valgrind supports no clone that is neither fork nor vfork. With one processor there is no head start, so no such clone. */
const ONE_PROCESSOR = ["taskset", "-c", /^Cpus_allowed_list:\t(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0"];

/** Instructions of the runtime. The helper runs without valgrind. */
const instructions: Instrument = async (setup, { verb, args, underValgrind = args }) => {
  const output = "/guard/callgrind.out";
  const tool = [...ONE_PROCESSOR, "valgrind", "--tool=callgrind", `--callgrind-out-file=${output}`];
  const text = await setup.run([...tool, ...setup.runt, ...underValgrind]);
  const [, total] = /^==\d+== Collected : (\d+)$/m.exec(text) ?? [];
  if (total === undefined) throw new Error(`valgrind of ${verb}: ${text}`);
  return { [`instructions ${verb}`]: Number(total) };
};

/** System calls of all processes, each until it becomes the container's program. */
const calls: Instrument = async (setup, { verb, args, leavesProcess }) => {
  const file = join(setup.work, "strace.out");
  rmSync(file, { force: true });
  const command = ["strace", "-f", "-s", "200", "-o", "/guard/strace.out", ...setup.runt];
  if (!leavesProcess) {
    await setup.run([...command, ...args]);
    return { [`calls ${verb}`]: countCalls(readFileSync(file, "utf8")) };
  }
  // strace stays as long as init: so this one is a container for it alone, which ends when init waits.
  const traced = setup.begin([...command, ...args.slice(0, -1), TRACED]);
  await settled(setup);
  await setup.run([...setup.runt, "delete", "--force", TRACED]);
  await traced.ended;
  await setup.run([...setup.runt, ...args]);
  return { [`calls ${verb}`]: countCalls(readFileSync(file, "utf8")) };
};

/** Another id of the same length. */
const TRACED = "d";
const LOOKS = 10;

/** When the container has been created and its init has slept through some looks. A process that strace holds is no sleeper. */
async function settled(setup: Setup): Promise<void> {
  let asleep = 0;
  for (let left = 500; left > 0 && asleep < LOOKS; left--) {
    await sleep(20);
    const pid = createdPid(setup);
    asleep = pid !== undefined && / S /.test(statOf(pid)) ? asleep + 1 : 0;
  }
  if (asleep < LOOKS) throw new Error("create does not come to its end");
}

function createdPid({ work }: Setup): number | undefined {
  try {
    const { phase, pid } = JSON.parse(readFileSync(join(work, "state", TRACED, "state.json"), "utf8"));
    return phase === "created" ? pid : undefined;
  } catch {
    return undefined;
  }
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

/** Size of the heap at the end, from the trace of the call. */
const heap: Instrument = async (setup, { verb, args }) => {
  const file = join(setup.work, "trace.json");
  await setup.run([...setup.runt.slice(0, 1), "--trace", "/guard/trace.json", ...setup.runt.slice(1), ...args]);
  const { traceEvents } = JSON.parse(readFileSync(file, "utf8")) as { traceEvents: { cat?: string; args: { heap?: number } }[] };
  const root = traceEvents.find(({ cat }) => cat === "verb");
  if (root?.args.heap === undefined) throw new Error(`the trace of ${verb} does not tell the heap`);
  return { [`heap ${verb}`]: root.args.heap };
};

const STEPPED = new Set(["create", "exec"]);

/** Instructions of the helper, counted by single steps. That is slow, so only for some verbs. */
function helperInstructions(step: string): Instrument {
  return async (setup, { verb, args, underValgrind = args }) => {
    if (!STEPPED.has(verb)) {
      await setup.run([...setup.runt, ...args]);
      return {};
    }
    execFileSync("cp", [step, join(setup.work, "step")]);
    const text = await setup.run(["/guard/step", ...setup.runt, ...underValgrind]);
    return Object.fromEntries(
      [...text.matchAll(/^(intermediate|init) (\d+)$/gm)].map(([, who, count]) => [`instructions ${verb} ${who}`, Number(count)]),
    );
  };
}

/** The least of each: a machine under load only ever adds. */
function least(rounds: readonly Counts[]): Counts {
  const names = new Set(rounds.flatMap((round) => Object.keys(round)));
  return Object.fromEntries([...names].map((name) => [name, Math.min(...rounds.map((round) => round[name] ?? Number.POSITIVE_INFINITY))]));
}

const ROUNDS = 3;

export async function measure(step: string, cgroups: Cgroups): Promise<Counts> {
  const setup = setUp(cgroups);
  try {
    const rounds: Counts[] = [];
    for (let left = ROUNDS; left > 0; left--) rounds.push(await live(setup, calls));
    return {
      ...(await live(setup, instructions)),
      ...(await live(setup, helperInstructions(step))),
      ...least(rounds),
      ...(await live(setup, heap)),
    };
  } finally {
    // After an error the containers are there still.
    for (const id of ["c", TRACED]) await setup.begin([...setup.runt, "delete", "--force", id]).ended;
    setup.remove();
  }
}

/** Sizes of both programs in bytes. */
export function measureBuild(): Counts {
  return {
    "size binary": statSync(join(REPOSITORY, "bin/runt")).size,
    "size helper": statSync(join(REPOSITORY, "build/runt-init")).size,
  };
}

/** The small program that counts the helper's instructions. */
export function makeStep(): string {
  const target = join(REPOSITORY, "build/test/step");
  const source = join(REPOSITORY, "test/guard/step.c");
  if (!existsSync(target) || statSync(target).mtimeMs < statSync(source).mtimeMs) {
    mkdirSync(join(REPOSITORY, "build/test"), { recursive: true });
    execFileSync("gcc", ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-static", source, "-o", target], { stdio: "inherit" });
  }
  return target;
}
