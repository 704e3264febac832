/**
 * Draws the last two rollouts of a run of test/engine/deploys.test.ts over time, from the events of the daemon: `tsx tools/gen-rollout-picture.ts RECORD FILE`. RECORD is what
 * `RUNT_DEPLOYS_RECORD=RECORD make test-deploys` has written. FILE is SVG.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface Event {
  readonly type: string;
  readonly wallMs: number;
  readonly task?: string | null;
  readonly state?: string;
  readonly replica?: string;
  readonly revision?: number;
}

export interface RolloutRecording {
  readonly events: readonly { readonly data: Event }[];
  /** Number of replicas that take connections, as another program has seen them. */
  readonly samples: readonly { readonly atMs: number; readonly ready: number }[];
}

interface Life {
  readonly task: string;
  readonly replica: string;
  readonly from: number;
  /** When services lead connections to it; undefined: they never do. */
  proven: number | undefined;
  /** When they no longer do. */
  left: number | undefined;
  hasFailed: boolean;
  to: number;
}

/** In pixels. */
const WIDTH = 860;
const LABELS = 70;
const BAR = 13;
const LANE = 2 * BAR + 18;
const TOP = 66;
const GRAPH = 70;
const BEHIND_MS = 1500;

const STYLE = `<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 14px }
.starting { fill: #9fd3e3 } .serving { fill: #0a6e8a } .draining { fill: #b3b9c1 } .failed { fill: #cf222e }
.line { stroke: #0a6e8a; fill: none; stroke-width: 1.5 } .grid { stroke: #d0d7de } .mark { stroke: #57606a; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .starting { fill: #1f5d70 } .serving { fill: #3fb8d8 } .draining { fill: #6b737d } .line { stroke: #3fb8d8 } .grid { stroke: #30363d } .mark { stroke: #8b949e } }
</style>`;

const WORDS: Readonly<Record<string, string>> = { started: "a new version", "rolling-back": "it goes back", complete: "complete" };

/** The text of an SVG file. */
export function rolloutPicture({ events, samples }: RolloutRecording): string {
  const all = events.map(({ data }) => data);
  const rollouts = all.filter(({ type }) => type === "rollout");
  const begun = rollouts.filter(({ state }) => state === "started").at(-2);
  if (begun === undefined) throw new Error("the record has no two rollouts");
  const start = begun.wallMs - BEHIND_MS / 2;
  const own = rollouts.filter(({ wallMs }) => wallMs >= begun.wallMs);
  const lives = livesOf(all, own, start);
  const end = Math.max(...lives.map(({ to }) => to), ...own.map(({ wallMs }) => wallMs)) + BEHIND_MS / 2;
  const x = (at: number) => (LABELS + ((Math.min(Math.max(at, start), end) - start) * (WIDTH - LABELS - 10)) / (end - start)).toFixed(1);
  const replicas = [...new Set(lives.map(({ replica }) => replica))].sort();
  const graph = TOP + replicas.length * LANE + 24;
  const height = graph + GRAPH + 30;
  const label = "A rollout that reaches its version, and one that goes back: tasks of three replicas over time";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${label}">`,
    STYLE,
    `<text class="title" x="0" y="16">${label}</text>`,
    ...[
      ["starting", "starts, gets no connections"],
      ["serving", "serves"],
      ["draining", "keeps its connections, gets no new ones"],
      ["failed", "has failed"],
    ].flatMap(([kind, text], at) => [
      `<rect class="${kind}" x="${at * 215}" y="28" width="12" height="12"/>`,
      `<text x="${at * 215 + 17}" y="38">${text}</text>`,
    ]),
    ...own.flatMap(({ state = "", wallMs }) =>
      WORDS[state] === undefined
        ? []
        : [
            `<line class="mark" x1="${x(wallMs)}" x2="${x(wallMs)}" y1="${TOP - 6}" y2="${graph + GRAPH}"/>`,
            `<text x="${x(wallMs)}" y="${TOP - 10}" text-anchor="middle">${WORDS[state]}</text>`,
          ],
    ),
    ...replicas.flatMap((replica, row) => [
      `<text x="0" y="${TOP + row * LANE + BAR + 4}">${replica}</text>`,
      ...rowsOf(lives.filter((one) => one.replica === replica)).flatMap(([life, at]) => bars(life, TOP + row * LANE + at * (BAR + 2), x)),
    ]),
    `<text x="0" y="${graph + GRAPH - 22}">replicas</text><text x="0" y="${graph + GRAPH - 8}">that take</text><text x="0" y="${graph + GRAPH + 6}">requests</text>`,
    ...[0, 3].flatMap((count) => {
      const y = graph + GRAPH - (count * GRAPH) / 4;
      return [
        `<line class="grid" x1="${LABELS}" x2="${WIDTH - 10}" y1="${y}" y2="${y}"/>`,
        `<text x="${LABELS - 12}" y="${y + 4}">${count}</text>`,
      ];
    }),
    `<polyline class="line" points="${steps(samples, start, end)
      .map(({ atMs, ready }) => `${x(atMs)},${(graph + GRAPH - (ready * GRAPH) / 4).toFixed(1)}`)
      .join(" ")}"/>`,
    ...Array.from({ length: Math.floor((end - start) / 1000) + 1 }, (_, second) =>
      second % 2 === 0 ? `<text x="${x(start + second * 1000)}" y="${graph + GRAPH + 18}" text-anchor="middle">${second} s</text>` : "",
    ),
    "</svg>",
    "",
  ].join("\n");
}

/** Of each task that is there in this time. */
function livesOf(all: readonly Event[], own: readonly Event[], start: number): Life[] {
  const last = Math.max(...all.map(({ wallMs }) => wallMs));
  const goneAt = new Map(all.flatMap((one) => (one.type === "removed" ? [[one.task!, one.wallMs] as const] : [])));
  const life = (task: string, replica: string, from: number, proven: number | undefined): Life => ({
    ...{ task, replica, from, proven, left: undefined, hasFailed: false },
    to: goneAt.get(task) ?? last,
  });
  const lives = new Map<string, Life>();
  const rolled = all.filter(({ type }) => type === "rollout");
  for (const one of rolled.filter(({ state, wallMs }) => state === "good" && wallMs < start)) {
    // Another one has taken the place of those before.
    for (const [task, { replica }] of lives) if (replica === one.replica) lives.delete(task);
    lives.set(one.task!, life(one.task!, one.replica!, start, start));
  }
  for (const { state, task, replica, wallMs } of own) {
    const here = task == null ? undefined : lives.get(task);
    if (state === "replacing") lives.set(task!, life(task!, replica!, wallMs, undefined));
    else if (state === "ready" && here !== undefined) here.proven = wallMs;
    else if (state === "failed" && here !== undefined) Object.assign(here, { hasFailed: true, left: wallMs });
    else if (state === "good")
      for (const other of lives.values()) if (other.replica === replica && other.task !== task) other.left ??= wallMs;
  }
  return [...lives.values()].filter(({ to }) => to >= start);
}

/** A task is drawn below the one that it replaces. */
function rowsOf(lives: readonly Life[]): [Life, number][] {
  const ends = [0, 0];
  return lives.map((life) => {
    const row = ends[0]! <= life.from ? 0 : 1;
    ends[row] = life.to;
    return [life, row];
  });
}

function bars({ from, proven, left, hasFailed, to }: Life, y: number, x: (at: number) => string): string[] {
  const bar = (kind: string, begin: number, end: number) =>
    end > begin
      ? [`<rect class="${kind}" x="${x(begin)}" y="${y}" width="${(Number(x(end)) - Number(x(begin))).toFixed(1)}" height="${BAR}"/>`]
      : [];
  const served = left ?? to;
  return [
    ...bar("starting", from, Math.min(proven ?? served, served)),
    ...(proven === undefined ? [] : bar("serving", proven, served)),
    ...bar(hasFailed ? "failed" : "draining", served, to),
  ];
}

/** The points at which the number changes. */
function steps(samples: RolloutRecording["samples"], start: number, end: number): { readonly atMs: number; readonly ready: number }[] {
  const own = samples.filter(({ atMs }) => atMs >= start && atMs <= end);
  return own.flatMap((one, at) => {
    const before = own[at - 1];
    if (before?.ready === one.ready && at < own.length - 1) return [];
    return before === undefined ? [one] : [{ atMs: one.atMs, ready: before.ready }, one];
  });
}

if (import.meta.filename === process.argv[1]) {
  const [, , record, file] = process.argv;
  writeFileSync(file!, rolloutPicture(JSON.parse(readFileSync(record!, "utf8"))));
}
