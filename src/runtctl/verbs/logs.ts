/** Logs of containers. The daemon reads them, for everyone who may read from its socket. */
import { InvalidArgumentError } from "commander";
import { type LogRecord, TextWriter } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { followLog, readLog } from "../log-stream.ts";
import { byTime } from "../output/log-records.ts";
import { type StyleName, styleFor } from "../output/style.ts";
import { stderr, stdout } from "../platform/index.ts";
import { taskOf } from "../tasks.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly container?: string;
  readonly follow?: true;
  readonly tail?: number;
  readonly since?: string;
  readonly timestamps?: true;
  readonly previous?: true;
}

/** Colours of container names, used in turn. */
const COLOURS: readonly StyleName[] = ["cyan", "yellow", "green", "red"];

export const logs = verb<Options>({
  name: "logs",
  summary: "print the logs of containers",
  description: [
    "What they have printed to stdout and stderr goes there. Without -c it is of all containers of the task, each line behind the name of its container. What begins with [log] is said by the log itself: lines that were dropped because the disk was full.",
    "With -f a daemon that goes away is waited for, and no line comes twice or is missing afterwards.",
  ],
  examples: [
    ["logs web -c app -f", "what app prints, until it ends"],
    ["logs web --since 10m", "what all containers of web have printed in the last ten minutes"],
    ["logs web -c app --previous", "what app had printed before it was started again"],
  ],
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .option("-c, --container <name>", "container of the task; default: all containers")
      .option("-f, --follow", "continue until the container has stopped for good")
      .option("-n, --tail <lines>", "only this many lines from the end of each log", lineCount)
      .option("--since <time>", "only lines since this time (RFC 3339), or since this long ago (90s, 10m, 2h, 1d)", instantOf)
      .option("-t, --timestamps", "begin each line with its time")
      .option("--previous", "log from before the last restart"),
  async run(session, [name = ""], options) {
    const task = await taskOf(session, name);
    const own = task.containers.filter(({ type }) => type === "normal").map((container) => container.name);
    const names = own.filter((one) => [undefined, one].includes(options.container));
    if (names.length === 0) throw new UsageError(`task ${name} has the containers ${own.join(", ")}`);
    const width = Math.max(...names.map((one) => one.length));
    const isPrefixed = options.container === undefined && names.length > 1;
    const style = styleFor(stdout);
    const prefixOf = (container: string, index: number) =>
      isPrefixed ? style(COLOURS[index % COLOURS.length]!, `${container.padEnd(width)} | `) : "";
    const sources = await Promise.all(
      names.map(async (container, index) => {
        const writer = new TextWriter({ hasTimes: options.timestamps === true, prefix: prefixOf(container, index) });
        const { since, previous, tail } = options;
        const request = { container, since, previous: textOf(previous), tail: textOf(tail) };
        return { writer, records: await (options.follow && !previous ? followLog : readLog)(session, task.id, request) };
      }),
    );
    if (options.follow) await Promise.all(sources.map(({ writer, records }) => printAll(writer, records)));
    else for await (const { source, record } of byTime(sources)) await send(source.writer, record);
    return EXIT.done;
  },
});

function textOf(value: number | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

async function printAll(writer: TextWriter, records: AsyncGenerator<LogRecord>): Promise<void> {
  for await (const record of records) await send(writer, record);
}

async function send(writer: TextWriter, record: LogRecord): Promise<void> {
  await (record.stream === "stdout" ? stdout : stderr).send(writer.render(record));
}

function lineCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It is no number of lines.");
  return Number(text);
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts a time or duration to RFC 3339. */
function instantOf(text: string): string {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const ms = count === undefined ? Date.parse(text) : Date.now() - Number(count) * UNIT_MS[unit!]!;
  if (!Number.isFinite(ms)) throw new InvalidArgumentError("Use a time like 2026-01-31T12:00:00Z, or 90s, 10m, 2h, 1d.");
  return new Date(ms).toISOString();
}
