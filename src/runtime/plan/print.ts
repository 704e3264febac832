/** A plan as a person reads it: operations in order, grouped by phase, each with the place in config.json it comes from. Pure. */
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
export function layOut(head: string, description: string, pointer: string): string[] {
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
