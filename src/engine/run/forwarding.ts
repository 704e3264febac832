/**
 * Logs that are sent to a socket (`log.forward` of a container) or to systemd's journal (`log.driver: journald`). The log file is the buffer: while nobody listens, what is printed waits there, and how far it was
 * sent is kept beside it, so that the next daemon goes on.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ForwardSocket, forwardFrame, JOURNAL_SOCKET, journalGreeting, journalLine, type LogRecord } from "../logs/index.ts";
import { specOf, type TaskRecord } from "../model/index.ts";
import type { EngineLog } from "./log.ts";
import { type LogSource, readContainerLog } from "./logs.ts";
import type { Paths } from "./paths.ts";
import { viewOf } from "./view.ts";

export interface ForwardingOptions {
  readonly paths: Paths;
  readonly records: () => ReadonlyMap<string, TaskRecord>;
  readonly onCommit: LogSource["onCommit"];
  /** Of systemd's journal; absent: its usual one. */
  readonly journalSocket?: string | undefined;
  readonly log: EngineLog;
}

/** Where the log of a container goes, besides its file. */
interface Destination {
  readonly socket: string;
  readonly greeting?: Buffer;
  readonly render: (record: LogRecord) => Buffer;
}

export class Forwarding {
  readonly #options: ForwardingOptions;
  /** By the directory and base of the log. */
  readonly #running = new Map<string, AbortController>();
  /** Those whose end was sent; their task is still there. */
  readonly #done = new Set<string>();

  constructor(options: ForwardingOptions) {
    this.#options = options;
  }

  /** Called after each change: begins with containers that have begun, and leaves those that are gone. */
  refresh(): void {
    const wanted = new Set<string>();
    for (const record of this.#options.records().values()) {
      for (const { name, runtimeId, startedAt, generation, known } of record.containers) {
        if (startedAt === null || this.#destination(record, name) === undefined) continue;
        const key = this.#place(record.id, runtimeId);
        wanted.add(key);
        // A container that is started again after its end has something to send again.
        const state = `${key} ${generation}`;
        if (this.#running.has(key) || this.#done.has(state)) continue;
        const controller = new AbortController();
        this.#running.set(key, controller);
        void this.#forward(record, name, key, controller.signal).then((isWhole) => {
          this.#running.delete(key);
          if (isWhole && known === "STOPPED") this.#done.add(state);
        });
      }
    }
    for (const [key, controller] of this.#running) if (!wanted.has(key)) controller.abort(new Error("the task is gone"));
    for (const state of this.#done) if (!wanted.has(state.slice(0, state.lastIndexOf(" ")))) this.#done.delete(state);
  }

  stop(): void {
    for (const controller of this.#running.values()) controller.abort(new Error("the daemon ends"));
  }

  #destination(record: TaskRecord, name: string): Destination | undefined {
    const { driver, forward } = specOf(record, name)?.log ?? {};
    const { journalSocket = JOURNAL_SOCKET } = this.#options;
    if (driver === "journald") return { socket: journalSocket, greeting: journalGreeting(`${record.name}/${name}`), render: journalLine };
    if (forward === undefined) return undefined;
    const { socket, tag = `${name}-firelens-${record.name}` } = forward;
    const labels = { tag, group: record.group, task: record.name, container: name };
    return { socket, render: (one) => forwardFrame(one, labels) };
  }

  /** Beside the logs of all incarnations: their ids differ in the generation at their end. */
  #place(task: string, runtimeId: string): string {
    return join(this.#options.paths.logs(task), `${runtimeId.slice(0, runtimeId.lastIndexOf("."))}.forwarded`);
  }

  /** True: all of it was sent, up to its end. */
  async #forward(first: TaskRecord, name: string, place: string, signal: AbortSignal): Promise<boolean> {
    const { paths, records, onCommit, log } = this.#options;
    const { socket: path, greeting, render } = this.#destination(first, name)!;
    const socket = new ForwardSocket(path, greeting);
    const view = () => {
      const record = records().get(first.id);
      return record && viewOf(record, paths);
    };
    try {
      const container = viewOf(first, paths).containers.find((one) => one.name === name)!;
      const query = { follow: true, previous: false, from: savedPlace(place), signal };
      for await (const batch of readContainerLog(container, { task: view, onCommit }, query)) {
        await socket.send(Buffer.concat(batch.map(render)), signal);
        if (signal.aborted) return false;
        const last = batch.findLast(({ next }) => next !== undefined)?.next;
        if (last !== undefined) save(place, last);
      }
      return !signal.aborted;
    } catch (error) {
      log("error", "not-forwarded", { task: first.id, container: name, message: String(error) });
      return true;
    } finally {
      socket.close();
    }
  }
}

function savedPlace(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** It need not be on the disk: after a crash of the host a few lines come twice. */
function save(path: string, place: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, place, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
