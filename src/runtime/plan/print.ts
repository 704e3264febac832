/** A plan as a person reads it: operations in order, grouped by phase, each with the place in config.json it comes from. Pure. */
import { OWN, type Sandbox, type Size } from "../config/index.ts";
import { printable } from "../errors/index.ts";
import { describeOperation } from "./describe.ts";
import type { Op, Phase, Plan } from "./plan.ts";

const WIDTH = 100;

/** At most six letters each. */
const LABELS: Readonly<Record<Phase, string>> = {
  host: "HOST",
  spawn: "SPAWN",
  cgroups: "CGROUP",
  namespaces: "NS",
  rootfs: "ROOT",
  mounts: "MOUNT",
  devices: "DEVICE",
  hooks: "HOOK",
  pivot: "PIVOT",
  process: "PROG",
  commit: "COMMIT",
};

export interface PrintOptions {
  /** A line more for each operation: who does it, and with which system calls (system-calls.ts). */
  readonly explain?: (op: Op) => readonly string[];
}

export function printPlan(plan: Plan, { explain }: PrintOptions = {}): string {
  const digits = Math.max(3, String(plan.ops.length).length);
  const nameWidth = Math.max(0, ...plan.ops.map(({ op }) => op.length)) + 2;
  const indent = 1 + 6 + digits + 3;
  const lines: string[] = [];
  let phase: Phase | undefined;
  for (const [index, op] of plan.ops.entries()) {
    const label = op.phase === phase ? "" : LABELS[op.phase];
    phase = op.phase;
    const head = ` ${label.padEnd(6)}${String(index + 1).padStart(digits)} ${op.op.padEnd(nameWidth)}`;
    lines.push(...layOut(head, describeOperation(op), op.from));
    if (explain) lines.push(...layOut(" ".repeat(indent), explanation(op, explain(op)), ""));
  }
  return lines.map((line) => `${printable(line.trimEnd())}\n`).join("");
}

function explanation({ actor }: Op, calls: readonly string[]): string {
  return `${actor}: ${calls.length === 0 ? "no system call of its own" : calls.join("; ")}`;
}

/**
 * The description behind the head, over as many lines as it needs, and the pointer at the right margin: of the first of them, of the
 * last, or on a line of its own, wherever there is room for it first.
 */
function layOut(head: string, description: string, pointer: string): string[] {
  const blank = " ".repeat(head.length);
  const lines = wrap(description, WIDTH - head.length).map((part, index) => (index === 0 ? head : blank) + part);
  if (pointer === "") return lines;
  const fits = (line: string | undefined): boolean => (line ?? "").trimEnd().length + pointer.length + 2 <= WIDTH;
  const free = fits(lines[0]) ? 0 : fits(lines.at(-1)) ? lines.length - 1 : -1;
  if (free === -1) return [...lines, pointer.padStart(WIDTH)];
  return lines.map((line, index) => (index === free ? line.trimEnd().padEnd(WIDTH - pointer.length) + pointer : line));
}

/** Breaks behind blanks and commas, inside a word only when it fills a line alone. Never empty. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const room = rest.slice(0, width);
    const at = Math.max(room.lastIndexOf(" "), room.lastIndexOf(","), room.lastIndexOf(";")) + 1;
    const cut = at > width / 3 ? at : width;
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut).trimStart();
  }
  return [...lines, rest];
}

const LABEL = " SANDBOX ";

/**
 * What the plan's bundle is to an engine, as a person reads it: behind the operations, because nothing
 * of it is done.
 */
export function printSandbox(sandbox: Sandbox): string {
  const { type, manager, id, size, shm, from } = sandbox;
  const named = id === undefined ? "without an id" : type === "container" ? `of sandbox ${id}` : id;
  const rows: (readonly [text: string, pointer: string])[] = [
    type === "single" ? ["single container", ""] : [`${type} ${named} (${manager})`, from[0] ?? ""],
  ];
  if (size) {
    rows.push([`may use ${cpuText(size)}, ${memoryText(size)}`, size.from[0] ?? ""]);
    const { vcpus, memoryMiB } = size.machine;
    rows.push([`as a machine: ${vcpus} vCPUs, ${memoryMiB} MiB (${OWN.vcpus} vCPU and ${OWN.memoryMiB} MiB of its own)`, ""]);
  }
  if (shm) rows.push(["bytes" in shm ? `/dev/shm of ${shm.bytes} bytes` : `/dev/shm is ${shm.source}`, ""]);
  return rows
    .flatMap(([text, pointer], index) => layOut(index === 0 ? LABEL : " ".repeat(LABEL.length), text, pointer))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function cpuText({ cpus }: Size): string {
  return cpus === 0 ? "any CPU time" : `${Number(cpus.toFixed(3))} ${cpus === 1 ? "CPU" : "CPUs"}`;
}

function memoryText({ memoryMiB }: Size): string {
  return memoryMiB === 0 ? "any memory" : `${memoryMiB} MiB`;
}
