import { InvalidArgumentError } from "commander";
import type { UsageView } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { bar, bytes } from "../output/bar.ts";
import { printable, type Style, styleFor } from "../output/style.ts";
import { table } from "../output/table.ts";
import { atExit, exit, onSignals, print, sleep, stdout, windowSize } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly interval: number;
  readonly once?: true;
}

export const top = verb<Options>({
  name: "top",
  summary: "show the resource usage of running containers",
  description: [
    "On a terminal, top redraws a table until ^C. Elsewhere, and with --once, it prints plain lines once and ends. CPU is in percent of one processor over the last interval; the bar shows " +
      "the share of all processors of the host. The bar of memory shows the share of the container's limit.",
  ],
  define: (command) =>
    command
      .option("-i, --interval <seconds>", "interval between two samples", secondsOf, 1)
      .option("--once", "print one sample as plain lines"),
  run: (session, _, options) => showUsage(session, options),
});

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 0.1 && seconds <= 3600)) throw new InvalidArgumentError("Use 0.1 to 3600 seconds.");
  return seconds;
}

const HEADER = ["TASK", "CONTAINER", "CPU", "", "MEMORY", "", "LIMIT", "PROCESSES", "READ", "WRITTEN"];
const CPU_BAR = 3;
const MEMORY_BAR = 5;
const CELLS = 12;

/** Returns the exit status. @throws ClientError */
async function showUsage(session: Session, { interval, once }: Options): Promise<number> {
  const isLive = stdout.isTTY && !once;
  let before = await usageOf(session);
  if (!isLive) {
    await sleep(interval * 1000);
    print(plainTable(await usageOf(session), before));
    return EXIT.done;
  }
  stdout.write(SCREEN.enter);
  const leave = () => stdout.write(SCREEN.leave);
  atExit(leave);
  onSignals(["SIGINT", "SIGTERM", "SIGHUP"], () => exit(EXIT.done));
  const processors = await processorsOf(session);
  for (;;) {
    await sleep(interval * 1000);
    const now = await usageOf(session);
    const size = windowSize();
    const text = liveTable(now, { before, processors, style: styleFor(stdout), width: size?.columns || USUAL.columns });
    stdout.write(SCREEN.home + fitted(text, size?.rows || USUAL.rows) + SCREEN.clearBelow);
    before = now;
  }
}

/** Escape sequences: `enter` shows the alternate screen without a cursor, `leave` restores the normal one. */
const SCREEN = { enter: "\u001b[?1049h\u001b[?25l", leave: "\u001b[?25h\u001b[?1049l", home: "\u001b[H", clearBelow: "\u001b[J" };

async function usageOf({ client, group }: Session): Promise<readonly UsageView[]> {
  const { usage } = await client.call<{ usage: UsageView[] }>("GET", `/v1/usage?group=${encodeURIComponent(group)}`);
  return usage;
}

async function processorsOf({ client }: Session): Promise<number> {
  const { ledger } = await client.call<{ ledger: { cpus: { capacity: number } } }>("GET", "/v1/node");
  return ledger.cpus.capacity;
}

/** Percent of one CPU; undefined: there is no earlier sample, or CPU time is not counted. */
export function cpuPercent(now: UsageView, before: readonly UsageView[]): number | undefined {
  const old = before.find(({ task, container }) => task === now.task && container === now.container);
  if (old === undefined || old.cpuUs === null || now.cpuUs === null || now.clockMs <= old.clockMs) return undefined;
  // The counter of a restarted container begins at 0.
  return Math.max(0, (now.cpuUs - old.cpuUs) / (now.clockMs - old.clockMs) / 10);
}

function rowOf(usage: UsageView, before: readonly UsageView[], processors: number): string[] {
  const percent = cpuPercent(usage, before);
  const { memoryBytes, memoryLimitBytes } = usage;
  return [
    usage.name,
    printable(usage.container),
    percent === undefined ? "-" : `${percent.toFixed(1)}%`,
    bar((percent ?? 0) / 100 / processors, CELLS),
    sizeOf(memoryBytes),
    bar(memoryBytes === null || memoryLimitBytes === null ? 0 : memoryBytes / memoryLimitBytes, CELLS),
    memoryLimitBytes === null ? "none" : bytes(memoryLimitBytes),
    usage.processes === null ? "-" : String(usage.processes),
    sizeOf(usage.readBytes),
    sizeOf(usage.writtenBytes),
  ];
}

/** Size of a terminal that does not tell it. */
const USUAL = { rows: 24, columns: 80 };

/** Columns that a narrow terminal does not show, the first first. They are columns of HEADER. */
const DISPENSABLE: readonly number[] = [CPU_BAR, MEMORY_BAR, 9, 8, 7, 6];
const LEAST_NAME = 8;

interface Live {
  readonly before: readonly UsageView[];
  readonly processors: number;
  readonly style: Style;
  /** Of the terminal, in characters. */
  readonly width: number;
}

/** A table that fits on the terminal: without some columns, and if that is not enough, with shortened names. */
export function liveTable(now: readonly UsageView[], { before, processors, style, width }: Live): string {
  const rows = [HEADER, ...now.map((usage) => rowOf(usage, before, processors))];
  const isShown = shownColumns(rows, width);
  const kept = rows.map((row) => row.filter((_, column) => isShown(column)));
  const limits = nameLimits(kept, widthOf(kept) - width);
  const [header, ...cells] = kept.map((row) => row.map((cell, column) => shortened(cell, limits[column])));
  const columns = HEADER.map((_, column) => column).filter(isShown);
  const paint = (cell: string, column: number) =>
    columns[column] === CPU_BAR ? style("green", cell) : columns[column] === MEMORY_BAR ? style("cyan", cell) : cell;
  return table(header!, cells, paint);
}

function shownColumns(rows: readonly (readonly string[])[], width: number): (column: number) => boolean {
  for (let hidden = 0; ; hidden++) {
    const gone = DISPENSABLE.slice(0, hidden);
    const isShown = (column: number) => !gone.includes(column);
    if (hidden === DISPENSABLE.length || widthOf(rows.map((row) => row.filter((_, column) => isShown(column)))) <= width) return isShown;
  }
}

/** Of the longest line of the table of these rows. */
function widthOf([header, ...rows]: readonly (readonly string[])[]): number {
  return Math.max(
    ...table(header!, rows)
      .split("\n")
      .map((line) => line.length),
  );
}

/** Most characters of the two columns of names. The shorter one stays whole if that is possible. @param excess characters that do not fit */
function nameLimits(rows: readonly (readonly string[])[], excess: number): readonly number[] {
  const [first = 0, second = 0] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const room = first + second - Math.max(0, excess);
  const half = Math.floor(room / 2);
  const limits = first <= half ? [first, room - first] : second <= half ? [room - second, second] : [half, half];
  return limits.map((one) => Math.max(LEAST_NAME, one));
}

function shortened(cell: string, most = Number.POSITIVE_INFINITY): string {
  return cell.length <= most ? cell : `${cell.slice(0, most - 1)}…`;
}

function plainTable(now: readonly UsageView[], before: readonly UsageView[]): string {
  const isShown = (_: string, column: number) => column !== CPU_BAR && column !== MEMORY_BAR;
  return table(
    HEADER.filter(isShown),
    now.map((usage) => rowOf(usage, before, 1).filter(isShown)),
  );
}

/** The lines that fit on the terminal, each cleared to its end. */
function fitted(text: string, rows: number): string {
  const lines = text.split("\n").slice(0, Math.max(1, rows - 1));
  return lines.map((line) => `${line}\u001b[K\r\n`).join("");
}

function sizeOf(count: number | null): string {
  return count === null ? "-" : bytes(count);
}
