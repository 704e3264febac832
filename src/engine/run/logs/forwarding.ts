/**
 * Forwards logs to a socket (`log.forward` of a container), to a receiver of others (`log.receiver`) or to systemd's journal (`log.driver: journald`). The log file is the buffer: output
 * stays there while no receiver listens. The position of what was sent is kept beside it, so that the next daemon continues there.
 */
import { mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { writeAtomically } from "../../../node/index.ts";
import {
  FluentdSender,
  ForwardSocket,
  fluentdEntry,
  forwardFrame,
  JOURNAL_SOCKET,
  journalGreeting,
  journalLine,
  type LogRecord,
  messagesFor,
  type Sender,
  type Speaker,
  senderTo,
  tagText,
} from "../../logs/index.ts";
import { specOf, type TaskRecord } from "../../model/index.ts";
import { readOwnFile } from "../../own/index.ts";
import { tagOf } from "../../plan/index.ts";
import { readSecret } from "../../secrets/index.ts";
import type { EngineLog } from "../log.ts";
import type { Paths } from "../paths.ts";
import type { LogRouters } from "../resources/log-routers.ts";
import { viewOf } from "../view.ts";
import { type LogSource, readContainerLog } from "./logs.ts";

export interface ForwardingOptions {
  readonly paths: Paths;
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly onCommit: LogSource["onCommit"];
  /** Socket of systemd's journal; absent: the standard one. */
  readonly journalSocket?: string | undefined;
  readonly logRouters: LogRouters;
  readonly log: EngineLog;
}

const NEWLINE = 0x0a;

/** The receiver of a container's log. */
interface Destination {
  readonly sender: () => Sender;
  readonly render: (record: LogRecord) => readonly Buffer[];
}

export class Forwarding {
  readonly #options: ForwardingOptions;
  /** Forwarding loops, by directory and base name of the log. */
  readonly #running = new Map<string, AbortController>();
  /** Logs that were sent to their end and whose task still exists. */
  readonly #done = new Set<string>();

  constructor(options: ForwardingOptions) {
    this.#options = options;
  }

  /** Starts forwarding for containers that were started, and stops it for tasks that were removed. Called after each change. */
  refresh(): void {
    const wanted = new Set<string>();
    for (const record of this.#options.records.values()) {
      for (const { name, runtimeId, startedAt, generation, known } of record.containers) {
        if (startedAt === null || this.#destination(record, name) === undefined) continue;
        const key = this.#place(record.id, runtimeId);
        wanted.add(key);
        // A container that is restarted after its end has new output to send.
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
    const spec = specOf(record, name);
    const { driver, forward, receiver, router } = spec?.log ?? {};
    const { journalSocket = JOURNAL_SOCKET, logRouters } = this.#options;
    if (driver === "journald")
      return {
        sender: () => new ForwardSocket(() => ({ path: journalSocket }), journalGreeting(`${record.name}/${name}`)),
        render: (one) => [journalLine(one)],
      };
    if (receiver !== undefined) {
      const who = { host: hostname(), id: record.id, task: record.name, container: name, image: spec?.image ?? "", pid: process.pid };
      const speaker: Speaker = { ...who, tag: receiver.tag === undefined ? `${record.name}/${name}` : tagText(receiver.tag, who) };
      const options = { tag: speaker.tag, readKey: readSharedKey, onFault: this.#faultOf(record, name) };
      return { sender: () => senderTo(receiver, options), render: (one) => messagesFor(one, receiver, speaker) };
    }
    if (forward === undefined && router === undefined) return undefined;
    const labels = { tag: forward?.tag ?? tagOf(spec!, record.name), group: record.group, task: record.name, container: name };
    const render = (one: LogRecord) => [forwardFrame(one, labels)];
    if (forward !== undefined) return { sender: () => new ForwardSocket(() => ({ path: forward.socket })), render };
    const find = () => logRouters.socket(record, router!);
    if (!logRouters.isForward(record, router!)) return { sender: () => new ForwardSocket(find), render };
    const { tag, ...names } = labels;
    return {
      sender: () => new FluentdSender({ find, tag, ack: true, onFault: this.#faultOf(record, name) }),
      render: (one) => [fluentdEntry({ record: one, names, precise: true })],
    };
  }

  /** Tells of a receiver that breaks the protocol, once for each reason. */
  #faultOf({ id }: TaskRecord, container: string): (message: string) => void {
    let last: string | undefined;
    return (message) => {
      if (message === last) return;
      last = message;
      this.#options.log("error", "log-receiver", { task: id, container, message });
    };
  }

  /** Path of the saved position. It belongs to the logs of all incarnations, whose runtime ids differ only in the generation at their end. */
  #place(task: string, runtimeId: string): string {
    return join(this.#options.paths.logs(task), `${runtimeId.slice(0, runtimeId.lastIndexOf("."))}.forwarded`);
  }

  /** Returns true if the whole log was sent, up to the end of the container. */
  async #forward(first: TaskRecord, name: string, place: string, signal: AbortSignal): Promise<boolean> {
    const { paths, records, onCommit, log } = this.#options;
    const { sender, render } = this.#destination(first, name)!;
    const socket = sender();
    const view = () => {
      const record = records.get(first.id);
      return record && viewOf(record, paths);
    };
    try {
      const container = viewOf(first, paths).containers.find((one) => one.name === name)!;
      const query = { follow: true, previous: false, from: savedPlace(place), signal };
      for await (const batch of readContainerLog(container, { task: view, onCommit }, query)) {
        await socket.send(batch.flatMap(render), signal);
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

/** The key of a receiver, without the newline at its end. @throws SecretError; the reason of `signal` */
async function readSharedKey(path: string, signal: AbortSignal): Promise<Buffer> {
  const bytes = await readSecret({ file: path }, signal);
  return bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes;
}

function savedPlace(path: string): string | undefined {
  try {
    return readOwnFile(path).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The position is not synced to disk: after a crash of the host a few lines are sent twice. */
function save(path: string, place: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomically(path, place, { durability: "none" });
}
