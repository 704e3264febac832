/** Attaches a client to the streams of a running container. The container does not notice clients that come and go. */
import type { Writable } from "node:stream";
import type { TerminalSize } from "../../executor/index.ts";
import { type LogRecord, readLog, watchLog } from "../logs/index.ts";
import { specOf, type TaskRecord } from "../model/index.ts";
import { takesInput } from "../plan/index.ts";
import { EngineError } from "./errors.ts";
import type { ContainerRuntime } from "./runtime.ts";

export interface Attachment {
  /** What it prints from now on, to its end; read from its log. */
  readonly output: AsyncGenerator<readonly LogRecord[], void, undefined>;
  /** undefined: nothing was to be written. Its end is not read by the container. */
  readonly stdin: Writable | undefined;
  /** 128 + signal when a signal ended it; null: nobody knows. */
  readonly ended: Promise<number | null>;
  /** Of its terminal. @throws ExecutorError wrong-state: it has none, or has ended */
  resize(size: TerminalSize): void;
  /** `output` ends, `stdin` is closed; the container goes on. */
  leave(): void;
}

export interface AttachRequest {
  /** Something is to be written to its standard input. */
  readonly stdin: boolean;
}

/** @throws EngineError no-log */
export function checkLog(record: TaskRecord, container: string): void {
  if (specOf(record, container)?.log?.driver === "none")
    throw new EngineError("no-log", `what container ${container} of task ${record.name} prints is dropped: its log has the driver none`, {
      task: record.name,
    });
}

/** @throws EngineError no-stdin */
export function checkStdin(record: TaskRecord, container: string, { stdin }: AttachRequest): void {
  const spec = specOf(record, container);
  if (stdin && !(spec !== undefined && takesInput(spec)))
    throw new EngineError("no-stdin", `container ${container} of task ${record.name} has neither stdin nor tty`, { task: record.name });
}

export interface AttachOptions {
  /** Path of its log. */
  readonly log: string;
  readonly hasStdin: boolean;
}

export function attachTo(container: Awaited<ReturnType<ContainerRuntime["streams"]>>, { log, hasStdin }: AttachOptions): Attachment {
  const stdin = hasStdin ? container.openStdin() : undefined;
  const watch = watchLog(log);
  let isOver = false;
  const end = () => {
    isOver = true;
    watch.wake();
  };
  // When the end is reported, the log is complete.
  const ended = container.wait().then(({ exitCode }) => exitCode);
  ended.then(end, end);
  return {
    output: until(readLog(log, { tail: 0, follow: { isOver: () => isOver, changed: watch.changed } }), watch.close),
    stdin,
    ended,
    resize: (size) => container.resize(size),
    leave() {
      stdin?.destroy();
      end();
    },
  };
}

async function* until<T>(source: AsyncGenerator<T, void, undefined>, close: () => void): AsyncGenerator<T, void, undefined> {
  try {
    yield* source;
  } finally {
    close();
  }
}
