/** `runtd --once -f FILE`: runs the tasks of a file to their end, without a daemon. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ContainerView,
  Engine,
  EngineError,
  type Finding,
  type LogRecord,
  removeOwnTree,
  renderFinding,
  type TaskView,
  TextWriter,
  warningsOf,
} from "../engine/index.ts";
import type { Configuration, OnceOptions } from "./config.ts";
import { factsOf, log, onlyErrors } from "./log.ts";
import { readFile } from "./read-file.ts";

const STDIN = 0;
const FAILED = 1;
/** Exit status if that of the container is unknown. */
const UNKNOWN = 255;
/** SIGPIPE: nobody reads the output any more. Node gets an error in its place. */
const SIGNAL_STATUS = { SIGHUP: 129, SIGINT: 130, SIGPIPE: 141, SIGTERM: 143 } as const;
const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * Returns an exit status: for the first failed task, the status of the essential container that ended it; 128 + signal if a signal ended this
 * process, or nobody reads its output any more; 1 if no task was started.
 * @throws the errors of Engine.open
 */
export async function runOnce(configuration: Configuration, { file, group }: OnceOptions): Promise<number> {
  const text = readFileSync(file === "-" ? STDIN : file, "utf8");
  // From here on a signal leaves nothing behind, also while the engine is opened.
  const ending = new Ending();
  const { engine: settings, isStateDirGiven, runDir } = configuration;
  const stateDir = isStateDirGiven ? settings.stateDir : mkdtempSync(join(tmpdir(), "runtd-once-"));
  try {
    const engine = await Engine.open({ ...settings, stateDir, usersDir: runDir, isOwnProcess: true, log: onlyErrors });
    try {
      return await toItsEnd(engine, text, { file, group }, ending);
    } finally {
      engine.close();
    }
  } finally {
    // A directory of the host may still be mounted in it, if its task could not be removed.
    if (!isStateDirGiven) removeOwnTree(stateDir);
  }
}

/** Why this process is to end before its tasks: a signal, or an output that nobody reads any more (`| head`, a terminal that was closed). */
class Ending {
  #by: keyof typeof SIGNAL_STATUS | undefined;
  #onEnd: () => void = () => {};

  constructor() {
    for (const signal of SIGNALS) process.on(signal, () => this.#end(signal));
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => this.#end("SIGPIPE"));
  }

  /** Exit status; undefined: it is to go on. */
  get status(): number | undefined {
    return this.#by && SIGNAL_STATUS[this.#by];
  }

  /** @param act called for each signal from now on */
  on(act: () => Promise<void>): void {
    this.#onEnd = () => void act().catch((error) => log("error", "not-deleted", factsOf(error)));
  }

  #end(by: keyof typeof SIGNAL_STATUS): void {
    // Each further line that cannot be written is an error, too.
    const isKnown = this.#by === "SIGPIPE" && by === "SIGPIPE";
    this.#by ??= by;
    if (!isKnown) this.#onEnd();
  }
}

async function toItsEnd(engine: Engine, text: string, { file, group }: OnceOptions, ending: Ending): Promise<number> {
  if (ending.status !== undefined) return ending.status;
  const ids: string[] = [];
  const deleteAll = () => deleteTasks(engine, ids, group);
  ending.on(deleteAll);
  try {
    // Other tasks of the group do not count. A task that has succeeded earlier may have been removed.
    const parsed = readFile(text, engine);
    if ((parsed.pools ?? []).length > 0) throw new EngineError("invalid-argument", "pools are for the daemon: apply the file with runtctl");
    for (const warning of warningsOf(parsed.tasks, engine.support.networks.lacks)) process.stderr.write(`runtd: warning: ${warning}\n`);
    const ours = (await engine.apply(parsed, group)).filter(({ change }) => change !== "absent");
    ids.push(...ours.map(({ id }) => id).filter((id) => engine.list().some((task) => task.id === id)));
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const findings = (error.details["findings"] ?? []) as readonly Finding[];
    for (const finding of findings) process.stderr.write(`${renderFinding(finding, file)}\n`);
    if (findings.length === 0) process.stderr.write(`runtd: ${error.message}\n`);
    return FAILED;
  }
  // The signal may have arrived while the tasks were being recorded.
  if (ending.status !== undefined) await deleteAll();
  const outputs = new OutputCopy(engine, ids, group);
  // A shared proxy does not end by itself.
  const awaited = ids.filter((id) => engine.detail(id, group, { isRedacted: true }).spec["start"] !== "needed");
  const ended = await untilStopped(engine, awaited, group);
  // A shared proxy waits for its next use. Without removing it, its output would be followed for ever.
  const proxies = ids.filter((id) => !awaited.includes(id));
  await deleteTasks(engine, proxies, group);
  await outputs.finish();
  await deleteAll();
  await until(engine, () => !engine.list().some(({ id }) => ids.includes(id)));
  if (ending.status !== undefined) return ending.status;
  return ended.map(statusOf).find((status) => status !== 0) ?? 0;
}

/** Tasks that were already removed are left out. */
async function deleteTasks(engine: Engine, ids: readonly string[], group: string): Promise<void> {
  const asked = ids.map((id) =>
    engine.delete(id, group).catch((error) => {
      if (!(error instanceof EngineError && error.code === "unknown-task")) throw error;
    }),
  );
  await Promise.all(asked);
}

interface Ended {
  readonly task: TaskView;
  readonly essential: ReadonlySet<string>;
}

/** The stopped tasks in the order of the file, without those that were deleted in the meantime. */
async function untilStopped(engine: Engine, ids: readonly string[], group: string): Promise<readonly Ended[]> {
  const stopped = new Map<string, Ended>();
  await until(engine, () => {
    const present = new Map(engine.list().map((task) => [task.id, task]));
    for (const task of present.values()) {
      if (ids.includes(task.id) && task.known === "STOPPED" && !stopped.has(task.id)) {
        stopped.set(task.id, { task, essential: essentialIn(engine, task.id, group) });
      }
    }
    return ids.every((id) => stopped.has(id) || !present.has(id));
  });
  return ids.flatMap((id) => stopped.get(id) ?? []);
}

function essentialIn(engine: Engine, id: string, group: string): ReadonlySet<string> {
  const { containers } = engine.detail(id, group, { isRedacted: true }).spec as {
    containers: readonly { readonly name: string; readonly essential: boolean }[];
  };
  return new Set(containers.filter(({ essential }) => essential).map(({ name }) => name));
}

/** The status of the essential container that ended first, which ended the task. */
function statusOf({ task, essential }: Ended): number {
  const ends = task.containers
    .filter(({ name, stoppedMs, exit }) => essential.has(name) && stoppedMs !== null && exit !== null)
    .sort((a, b) => a.stoppedMs! - b.stoppedMs!);
  const first = ends[0]?.exit;
  if (first) return first.unknown ? UNKNOWN : (first.code ?? FAILED);
  process.stderr.write(`runtd: task ${task.name}: ${task.reason ?? "has stopped"}\n`);
  return FAILED;
}

/** Checks the condition again after each transaction. */
function until(engine: Engine, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds()) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = engine.onCommit(look);
    look();
  });
}

/** Copies the output of containers to standard output, line by line. */
class OutputCopy {
  readonly #copies: Promise<unknown>;

  /** The output of a single container is unchanged. With several containers, each line begins with the name of its container. */
  constructor(engine: Engine, ids: readonly string[], group: string) {
    const containers = ids.flatMap((id) => ownContainers(engine.get(id, group)).map(({ name }) => ({ id, name })));
    const copies = containers.map(async ({ id, name }) => {
      try {
        const records = engine.logs(id, group, { container: name, follow: true, previous: false });
        await copy(records, containers.length === 1 ? "" : `${name} | `);
      } catch (error) {
        // With the log driver none, the output is not wanted.
        if (!(error instanceof EngineError && error.code === "no-log")) log("error", "output-lost", factsOf(error));
      }
    });
    this.#copies = Promise.all(copies);
  }

  /** Copies the rest. Must be called after all containers have stopped for good. */
  async finish(): Promise<void> {
    await this.#copies;
  }
}

/** The containers of the task file, without the pause container, which prints nothing. */
function ownContainers({ containers }: TaskView): readonly ContainerView[] {
  return containers.filter(({ type }) => type === "normal");
}

async function copy(records: AsyncIterable<readonly LogRecord[]>, prefix: string): Promise<void> {
  const text = new TextWriter({ hasTimes: false, prefix });
  // Beginnings of lines by stream: other containers may print before the rest of a line arrives.
  const begun = new Map<string, Buffer[]>();
  for await (const some of records) {
    for (const record of some) {
      const parts = [...(begun.get(record.stream) ?? []), text.render(record)];
      if (record.isPart && prefix !== "") begun.set(record.stream, parts);
      else {
        begun.delete(record.stream);
        await print(Buffer.concat(parts));
      }
    }
  }
  for (const parts of begun.values()) await print(Buffer.concat([...parts, Buffer.from("\n")]));
}

/** Waits for a slow reader, so that the rest of the log stays in its file. What is left of it is dropped when nobody reads any more. */
async function print(bytes: Buffer): Promise<void> {
  const { stdout } = process;
  if (stdout.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stdout.off("drain", done).off("error", done).off("close", done);
      resolve();
    };
    stdout.on("drain", done).on("error", done).on("close", done);
  });
}
