/**
 * The floor of `run`, which it cannot be faster than: the helper with a plan that was made before (floor.c), and `true` without a container. The
 * plan is the one that `runt plan` prints for the same bundle. Each kind of `run` that floor.c can do has its own.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { deviceProgram } from "../src/runtime/cgroup/devices/program.ts";
import { decodeRules } from "../src/runtime/cgroup/devices/rule.ts";
import { type FieldType, MESSAGES, OPS, type OpName } from "../src/shared/protocol/index.ts";
import { packPlan, type TestOp } from "../test/support/pack.ts";
import type { Variant } from "./bundles.ts";
import { REPOSITORY } from "./namespace.ts";
import { type Side, TOOLS } from "./side.ts";
import { type Comparison, compare, parseRounds } from "./stats.ts";

/** In a container's state directory. */
const FILTER_FILE = "seccomp.bpf";

interface PrintedOp {
  readonly op: OpName;
  readonly actor: "runtime" | "intermediate" | "init";
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Floor {
  /** `run` against the helper with a prebuilt plan. The first is that of the plain bundle. */
  readonly runs: readonly { readonly title: string; readonly times: Comparison }[];
  /** The plain one against `true`. */
  readonly helper: Comparison;
}

/** Not a user namespace: its maps are written while outer waits. */
const BUNDLES: readonly { readonly variant: Variant; readonly title: string }[] = [
  { variant: "plain", title: "`run`" },
  { variant: "seccomp", title: "`run`, an engine's seccomp profile, warm" },
  { variant: "containerd", title: "`run`, containerd's bundle" },
  { variant: "mounts", title: "`run`, 50 more mounts" },
];

/** Operations that the floor leaves out: they are only bookkeeping of the runtime. */
const OWN = new Set<OpName>(["state.intent", "state.commit", "sync.end"]);

export function measureFloor(side: Side, rounds: number): Floor {
  const { work } = side.place;
  // Installed as a copy, like the others, so that its pages are in the page cache in the same way.
  const helper = join(work, "runt-init");
  copyFileSync(join(REPOSITORY, "build/runt-init"), helper);
  const floors = BUNDLES.map(({ variant }) => `${join(TOOLS, "floor")} ${helper} ${prepare(side, variant).join(" ")}`);
  return {
    runs: BUNDLES.map(({ variant, title }, index) => {
      return { title, times: pair(rounds, `${side.command()} run -b ${side.bundle("true", variant)} f-@`, floors[index]!) };
    }),
    helper: pair(rounds, floors[0]!, `${join(work, "rootfs/bin/busybox")} true`),
  };
}

/** The files that floor.c is to be given: plan and script. */
function prepare(side: Side, variant: Variant): string[] {
  const { work } = side.place;
  const name = join(work, `floor-${variant}`);
  const bundle = side.bundle("true", variant);
  execFileSync(side.binary, ["--root", side.root(), "plan", "--run", "-b", bundle, "-f", "json", "--out", `${name}.json`, "floor"], {
    stdio: "pipe",
  });
  const plan: { readonly slots: number; readonly ops: readonly PrintedOp[] } = JSON.parse(readFileSync(`${name}.json`, "utf8"));
  if (plan.ops.some(({ op }) => op === "seccomp.send")) saveFilter(side, bundle, `${name}.filter`);
  writeFileSync(`${name}.plan`, packPlan(plan.ops.filter(isHelpers).map(exact), plan.slots));
  const lines = plan.ops.filter(({ actor }) => actor === "runtime").flatMap((op) => script(op, name));
  writeFileSync(`${name}.script`, `${lines.join("\n")}\n`);
  return [`${name}.plan`, `${name}.script`];
}

/** The compiled filter, of a container that has it. */
function saveFilter(side: Side, bundle: string, file: string): void {
  side.run("create", "-b", bundle, "filter");
  copyFileSync(join(side.root(), "filter", FILTER_FILE), file);
  side.run("delete", "--force", "filter");
}

function isHelpers(op: PrintedOp): op is PrintedOp & TestOp {
  return op.actor !== "runtime";
}

/** JSON has no bigint. */
function exact({ op, actor, args }: TestOp): TestOp {
  const fields: Readonly<Record<string, FieldType>> = OPS[op].fields;
  const value = (name: string, given: unknown) => (/^[ui]64$/.test(fields[name] ?? "") ? BigInt(given as string) : given);
  return { op, actor, args: Object.fromEntries(Object.entries(args).map(([name, given]) => [name, value(name, given)])) };
}

/** Lines of floor.c. */
function script({ op, args }: PrintedOp, name: string): string[] {
  if (OWN.has(op)) return [];
  switch (op) {
    case "helper.spawn":
      return ["spawn"];
    case "cgroup.create":
      return [`mkdir ${args["path"]}`, ...cpusetOf(String(args["path"]))];
    case "cgroup.devices": {
      const program = `${name}.devices`;
      writeFileSync(program, Buffer.from(deviceProgram(decodeRules(args["rules"] as string[]))));
      return [`devices ${args["path"]} ${program}`];
    }
    case "cgroup.write":
      return [`write ${args["path"]} ${args["value"]}`];
    case "sync.send":
      return [`send ${args["message"]}`];
    case "seccomp.prepare":
      return [];
    case "seccomp.send":
      return [`send ${MESSAGES.filter} ${name}.filter`];
    case "sync.wait":
      return [`wait ${args["message"]}`];
    default:
      throw new Error(`floor.c cannot do ${op}`);
  }
}

/** Nothing can run in a new cpuset of v1 until it has the parent's values. */
function cpusetOf(path: string): string[] {
  return ["cpuset.cpus", "cpuset.mems"]
    .filter((name) => basename(dirname(dirname(path))) === "cpuset" && existsSync(join(dirname(path), name)))
    .map((name) => `write ${path}/${name} ${readFileSync(join(dirname(path), name), "utf8").trim()}`);
}

function pair(rounds: number, own: string, peer: string): Comparison {
  const input = `rounds ${rounds}\na.run ${own}\nb.run ${peer}\n`;
  return compare(parseRounds(execFileSync(join(TOOLS, "pair"), { input, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"] })));
}
