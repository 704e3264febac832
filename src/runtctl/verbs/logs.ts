/** Logs of containers. The daemon reads them, so that every user of its socket can see them. */
import { InvalidArgumentError } from "commander";
import { type LogRecord, type TaskView, TextWriter } from "../../engine/index.ts";
import { ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { followLog, logPieces, readLog } from "../log-stream.ts";
import { byTime } from "../output/log-records.ts";
import { printable, type StyleName, styleFor } from "../output/style.ts";
import { exists, stderr, stdout } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { taskOf, tasksOf } from "../tasks.ts";
import { verb } from "../verb.ts";
import { addComposeOptions, fileToApply } from "./compose.ts";
import { andFile, type ComposeFlags, type FileOption } from "./file.ts";

interface Options extends Partial<ComposeFlags> {
  readonly file?: FileOption["file"];
  readonly all?: true;
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
    "logs prints the stdout and stderr of the containers to its own stdout and stderr. Without -c it prints the logs of all containers, and begins each line with the name of the container, or with the name of the task if there are several. A line that begins with [log] is a message of the log itself: lines were dropped because the disk was full.",
    "With -f, logs waits if the daemon stops, and continues when it is back. No line appears twice, and no line is missing.",
  ],
  examples: [
    ["logs web -c app -f", "print the output of app until it ends"],
    ["logs web --since 10m", "print the last ten minutes of all containers of web"],
    ["logs web db -f", "print the output of the containers of two tasks"],
    ["logs --file compose.yaml -n 20", "print the last 20 lines of each service of a Compose file"],
    ["logs -p shop -f", "print what all services of the project shop print"],
    ["logs web -c app --previous", "print the output of app before its last restart"],
  ],
  define(command) {
    command
      .argument("[name...]", "names of tasks")
      .option("--file <file>", "tasks that `apply` has made from this file; may be repeated for Compose files", andFile)
      .option("--all", "all tasks of the group")
      .option("-c, --container <name>", "container of the task; default: all containers")
      .option("-f, --follow", "continue until the container has stopped for good")
      .option("-n, --tail <lines>", "only this many lines from the end of each log", lineCount)
      .option("--since <time>", "only lines since this time (RFC 3339), or since this long ago (90s, 10m, 2h, 1d)", instantOf)
      .option("-t, --timestamps", "begin each line with a timestamp")
      .option("--previous", "log from before the last restart");
    addComposeOptions(command, ". Without a file: all tasks of this group");
  },
  async run(session, names, options) {
    const tasks = await tasksAsked(session, names, options);
    if (tasks === undefined) return EXIT.failed;
    const sources = tasks.flatMap((task) => containersOf(task, options).map((container) => ({ task, container })));
    if (sources.length === 0) throw new UsageError(noContainer(tasks, options));
    if (sources.length === 1 && !options.timestamps) {
      await printWhole(session, sources[0]!, options);
      return EXIT.done;
    }
    // A line begins with the shortest name that is unique: the container within one task, the task if each has one container, otherwise both.
    const isOfOne = tasks.length === 1;
    const hasOneEach = sources.length === tasks.length;
    const titles = sources.map(({ task, container }) => (isOfOne ? container : hasOneEach ? task.name : `${task.name}/${container}`));
    const width = Math.max(...titles.map((one) => one.length));
    const isPrefixed = sources.length > 1;
    const style = styleFor(stdout);
    const opened = await Promise.all(
      sources.map(async ({ task, container }, index) => {
        const prefix = isPrefixed ? style(COLOURS[index % COLOURS.length]!, `${printable(titles[index]!).padEnd(width)} | `) : "";
        const writer = new TextWriter({ hasTimes: options.timestamps === true, prefix });
        const { since, previous, tail } = options;
        const request = { container, since, previous: textOf(previous), tail: textOf(tail) };
        return {
          writer,
          records: await (options.follow && !previous ? followLog : readLog)({ ...session, group: task.group }, task.id, request),
        };
      }),
    );
    if (options.follow) await Promise.all(opened.map(({ writer, records }) => printAll(writer, records)));
    else for await (const { source, record } of byTime(opened)) await send(source.writer, record);
    return EXIT.done;
  },
});

/** The tasks that the command line names. undefined: the file has errors, which were printed. @throws UsageError, ClientError */
async function tasksAsked(session: Session, names: readonly string[], options: Options): Promise<readonly TaskView[] | undefined> {
  const { file, all, project } = options;
  const ways = [names.length > 0, file !== undefined, all === true].filter(Boolean).length;
  // The project alone is all of its tasks.
  if (ways > 1 || (ways === 0 && project === undefined)) throw new UsageError("give task names, --file FILE, -p PROJECT, or --all");
  const group = project ?? session.group;
  if (names.length > 0) return Promise.all([...new Set(names)].map((name) => namedTask({ ...session, group }, name)));
  const read = file === undefined ? undefined : fileToApply({ profile: [], ...options, file }, session.givenGroup, { isQuiet: true });
  if (file !== undefined && read === undefined) return undefined;
  const isMeant = ({ from }: TaskView) => read === undefined || from === read.from;
  const tasks = (await tasksOf({ ...session, group: read?.group ?? group })).filter(isMeant);
  if (tasks.length > 0) return tasks;
  throw new UsageError(read === undefined ? `there are no tasks in group ${group}` : `no task of ${read.source} is there`);
}

/** Users of `docker compose` name a file with -f, which is --follow here. @throws ClientError unknown-task */
async function namedTask(session: Session, name: string): Promise<TaskView> {
  try {
    return await taskOf(session, name);
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== "unknown-task" || !exists(name)) throw error;
    throw new ClientError(error.code, error.message, { body: error.body, hint: `For the tasks of a file: --file ${name}` });
  }
}

function containersOf({ containers }: TaskView, { container: asked }: Options): string[] {
  return containers.filter(({ type, name }) => type === "normal" && [undefined, name].includes(asked)).map(({ name }) => name);
}

interface OneLog {
  readonly task: TaskView;
  readonly container: string;
}

/** Prints one log without a prefix. */
async function printWhole(session: Session, { task, container }: OneLog, { follow, since, previous, tail }: Options): Promise<void> {
  const request = { container, since, previous: textOf(previous), tail: textOf(tail) };
  const pieces = await logPieces({ ...session, group: task.group }, task.id, request, follow === true && !previous);
  for await (const { isError, bytes } of pieces) await (isError ? stderr : stdout).send(bytes);
}

function noContainer(tasks: readonly TaskView[], { container }: Options): string {
  const [first] = tasks;
  if (tasks.length > 1) return `no task has a container ${container}`;
  return `task ${first!.name} has the containers ${containersOf(first!, {}).join(", ")}`;
}

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
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It is not a number of lines.");
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
