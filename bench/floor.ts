/**
 * The floor of `run`, which it cannot be faster than: the helper with a plan that was made before (floor.c), and `true` without a container. The
 * plan is the one that `runt plan` prints for the same bundle.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { deviceProgram } from "../src/runtime/cgroup/devices/program.ts";
import { decodeRules } from "../src/runtime/cgroup/devices/rule.ts";
import { type FieldType, OPS, type OpName } from "../src/shared/protocol/index.ts";
import { packPlan, type TestOp } from "../test/support/pack.ts";
import { REPOSITORY } from "./namespace.ts";
import { type Side, TOOLS } from "./side.ts";
import { type Comparison, compare, parseRounds } from "./stats.ts";

interface PrintedOp {
  readonly op: OpName;
  readonly actor: "runtime" | "intermediate" | "init";
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Floor {
  /** `run` against the helper with a prebuilt plan, and that against `true`. */
  readonly run: Comparison;
  readonly helper: Comparison;
}

/** Operations that the floor leaves out: they are only bookkeeping of the runtime. */
const OWN = new Set<OpName>(["state.intent", "state.commit", "sync.end"]);

export function measureFloor(side: Side, rounds: number): Floor {
  const { work } = side.place;
  const bundle = side.bundle("true");
  const printed = join(work, "floor.json");
  execFileSync(side.binary, ["--root", side.root(), "plan", "--run", "-b", bundle, "-f", "json", "--out", printed, "floor"], {
    stdio: "pipe",
  });
  const plan: { readonly slots: number; readonly ops: readonly PrintedOp[] } = JSON.parse(readFileSync(printed, "utf8"));
  writeFileSync(join(work, "floor.plan"), packPlan(plan.ops.filter(isHelpers).map(exact), plan.slots));
  writeFileSync(
    join(work, "floor.script"),
    `${plan.ops
      .filter(({ actor }) => actor === "runtime")
      .flatMap((op) => script(op, work))
      .join("\n")}\n`,
  );
  // Installed as a copy, like the others, so that its pages are in the page cache in the same way.
  const helper = join(work, "runt-init");
  copyFileSync(join(REPOSITORY, "build/runt-init"), helper);
  const floor = `${join(TOOLS, "floor")} ${helper} ${join(work, "floor.plan")} ${join(work, "floor.script")}`;
  return {
    run: pair(rounds, `${side.command()} run -b ${bundle} f-@`, floor),
    helper: pair(rounds, floor, `${join(work, "rootfs/bin/busybox")} true`),
  };
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
function script({ op, args }: PrintedOp, work: string): string[] {
  if (OWN.has(op)) return [];
  switch (op) {
    case "helper.spawn":
      return ["spawn"];
    case "cgroup.create":
      return [`mkdir ${args["path"]}`, ...cpusetOf(String(args["path"]))];
    case "cgroup.devices": {
      const program = join(work, "floor.devices");
      writeFileSync(program, Buffer.from(deviceProgram(decodeRules(args["rules"] as string[]))));
      return [`devices ${args["path"]} ${program}`];
    }
    case "cgroup.write":
      return [`write ${args["path"]} ${args["value"]}`];
    case "sync.send":
      return [`send ${args["message"]}`];
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
