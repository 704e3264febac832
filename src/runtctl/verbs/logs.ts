/** What a container has printed, from its file: it does not flow through the daemon, so that a daemon that is killed meanwhile changes nothing. */
import { closeSync, openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { InvalidArgumentError } from "commander";
import type { ContainerView, TaskView } from "../../engine/index.ts";
import { ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Session } from "../session.ts";
import { taskOf } from "../tasks.ts";
import { verb } from "../verb.ts";

const LOOK_MS = 200;
const CHUNK = 65_536;
const NEWLINE = 0x0a;

interface Options {
  readonly container?: string;
  readonly follow?: true;
  readonly tail?: number;
}

export const logs = verb<Options>({
  name: "logs",
  summary: "what a container has printed",
  examples: [["logs web -c app -f", "what app prints, until it ends"]],
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .option("-c, --container <name>", "of the task; needed when it has more than one")
      .option("-f, --follow", "go on until the container ends")
      .option("-n, --tail <lines>", "only the last ones", lineCount),
  async run(session, [name = ""], { container: asked, follow, tail }) {
    const task = await taskOf(session, name);
    const { log, name: container } = containerOf(task, asked);
    const fd = open(log);
    if (fd === undefined) return EXIT.done;
    try {
      let at = print(fd, tail === undefined ? 0 : startOfLast(fd, tail));
      while (follow && (await mayPrint(task.id, container, session))) {
        await sleep(LOOK_MS);
        at = print(fd, at);
      }
      print(fd, at);
    } finally {
      closeSync(fd);
    }
    return EXIT.done;
  },
});

function lineCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It is no number of lines.");
  return Number(text);
}

/** undefined: it has not been started yet, so it has printed nothing. */
function open(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function containerOf({ name, containers }: TaskView, asked: string | undefined): ContainerView {
  const found = asked === undefined && containers.length === 1 ? containers[0] : containers.find((one) => one.name === asked);
  if (found !== undefined) return found;
  throw new UsageError(`task ${name} has the containers ${containers.map((one) => one.name).join(", ")}: use -c`);
}

/** Without an answer of the daemon it may: it is asked again. */
async function mayPrint(id: string, container: string, session: Session): Promise<boolean> {
  try {
    const { containers } = await taskOf(session, id);
    return containers.find(({ name }) => name === container)?.known !== "STOPPED";
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return error.code !== "unknown-task";
  }
}

/** Everything from an offset on; returns the offset behind it. */
function print(fd: number, from: number): number {
  const chunk = Buffer.alloc(CHUNK);
  for (let at = from; ; ) {
    const size = readSync(fd, chunk, 0, CHUNK, at);
    if (size === 0) return at;
    process.stdout.write(chunk.subarray(0, size));
    at += size;
  }
}

/** Offset of the last `count` lines. */
function startOfLast(fd: number, count: number): number {
  const starts: number[] = [0];
  const chunk = Buffer.alloc(CHUNK);
  let at = 0;
  for (let size = readSync(fd, chunk, 0, CHUNK, 0); size > 0; size = readSync(fd, chunk, 0, CHUNK, at)) {
    for (let index = chunk.indexOf(NEWLINE); index !== -1 && index < size; index = chunk.indexOf(NEWLINE, index + 1)) {
      starts.push(at + index + 1);
      if (starts.length > count + 2) starts.shift();
    }
    at += size;
  }
  // A last line that is complete begins no further one.
  const lines = starts.at(-1) === at ? starts.slice(0, -1) : starts;
  return count === 0 ? at : (lines.at(-count) ?? 0);
}
