/** The targets against crun (docs/performance.md), and whether a report meets them. */
import { UNIFIED } from "./machine.ts";
import type { Report } from "./report.ts";

export interface Verdict {
  readonly target: string;
  readonly holds: boolean;
  readonly seen: string;
}

/** On cgroup v1: median and minimum must hold. */
const RATIOS: Readonly<Record<string, number>> = {
  state: 0.6,
  kill: 0.6,
  start: 0.6,
  delete: 0.6,
  list: 0.6,
  "list-10": 0.6,
  "list-1000": 0.6,
  create: 0.6,
  run: 0.6,
  "run-seccomp-warm": 0.5,
  "run-seccomp-cold": 1,
  exec: 0.8,
};
/** On cgroup v2: the median must hold, and the minimum within `MINIMUM_ROOM`. */
const UNIFIED_RATIOS: Readonly<Record<string, number>> = {
  state: 0.22,
  kill: 0.22,
  start: 0.3,
  delete: 0.4,
  create: 0.5,
  run: 0.5,
  "run-seccomp-warm": 0.5,
  exec: 0.4,
};
const MINIMUM_ROOM = 0.1;
/** With background churn no target of v2 is lower than this. */
const UNIFIED_CHURN = 0.7;
const WAITING_KIB = 1024;
const SMALLEST_LIMIT_KIB = 256;
const BINARY_BYTES = 6e6;
const LAST_CREATE = 1.2;
const FLOOR = 1.6;
const UNIFIED_FLOOR = 1.25;

export function judge(report: Report): Verdict[] {
  if (report.churn) return [...ratios(report), ...memory(report)];
  return [...ratios(report), ...memory(report), ...sizes(report), ...many(report), ...floor(report)];
}

function verdict(target: string, holds: boolean, seen: string): Verdict {
  return { target, holds, seen };
}

function ratios({ peer, timed, churn, machine }: Report): Verdict[] {
  const unified = machine.cgroups === UNIFIED;
  const room = unified ? MINIMUM_ROOM : 0;
  return Object.entries(unified ? UNIFIED_RATIOS : RATIOS).flatMap(([name, idle]) => {
    const limit = unified && churn ? Math.max(idle, UNIFIED_CHURN) : idle;
    const outcome = timed.find((entry) => entry.name === name)?.outcome;
    if (outcome === undefined || "missing" in outcome) return [];
    const { ratio, minimumRatio } = outcome;
    const seen = `median ${ratio.toFixed(2)}, minimum ${minimumRatio.toFixed(2)}`;
    return [verdict(`${name} <= ${limit} x ${peer}`, ratio <= limit && minimumRatio <= limit + room, seen)];
  });
}

/** One verdict for every scenario whose peak RSS is known. */
function memory({ peer, timed }: Report): Verdict[] {
  return timed.flatMap(({ name, outcome }) => {
    if ("missing" in outcome || outcome.rssKib[0] === 0) return [];
    const [own, other] = outcome.rssKib;
    return [verdict(`peak RSS of ${name} <= ${peer}'s`, own <= other, `${own} / ${other} KiB`)];
  });
}

function sizes({ machine, sizes: measured, peer }: Report): Verdict[] {
  const bytes = machine.binaryBytes;
  const binary = verdict(`binary <= ${BINARY_BYTES / 1e6} MB`, bytes <= BINARY_BYTES, `${(bytes / 1e6).toFixed(2)} MB`);
  if (!measured) return [binary];
  const waiting = measured.waitingKib["runt"] ?? Number.NaN;
  const limit = measured.smallestLimitKib["runt"] ?? Number.POSITIVE_INFINITY;
  return [
    verdict(`waiting run <= ${WAITING_KIB} KiB`, waiting <= WAITING_KIB, `${waiting} KiB`),
    ...(Object.keys(measured.smallestLimitKib).length === 0
      ? []
      : [verdict(`starts under ${SMALLEST_LIMIT_KIB} KiB`, limit <= SMALLEST_LIMIT_KIB, `${limit} KiB`)]),
    binary,
    ...Object.entries(measured.calls).flatMap(([verb, counts]) => {
      const [own, other] = [counts["runt"], counts[peer]];
      // On v1 most of the calls are for a dozen hierarchies and cannot be left out.
      if (own === undefined || other === undefined || machine.cgroups !== UNIFIED) return [];
      return [verdict(`system calls of ${verb} < ${peer}'s`, own < other, `${own} / ${other}`)];
    }),
  ];
}

function many({ crowds = [] }: Report): Verdict[] {
  const own = crowds.find(({ runtime }) => runtime === "runt");
  if (!own) return [];
  const growth = own.lastCreateMs / own.firstCreateMs;
  return [
    verdict(`create of the 500th <= ${LAST_CREATE} x the 1st`, growth <= LAST_CREATE, growth.toFixed(2)),
    verdict(
      "nothing stays resident outside of a container",
      own.created.outside + own.running.processes === 0,
      `${own.created.outside + own.running.processes} processes each`,
    ),
  ];
}

function floor({ floor: measured, machine }: Report): Verdict[] {
  if (!measured) return [];
  const limit = machine.cgroups === UNIFIED ? UNIFIED_FLOOR : FLOOR;
  const plain = measured.runs[0]?.times;
  if (!plain) return [];
  const { ratio, minimumRatio } = plain;
  return [
    verdict(
      `run <= ${limit} x the floor`,
      ratio <= limit && minimumRatio <= limit,
      `median ${ratio.toFixed(2)}, minimum ${minimumRatio.toFixed(2)}`,
    ),
  ];
}
