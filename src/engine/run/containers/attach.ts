/** Attaches a client to the streams of a running container. Clients may come and go without the container noticing. */
import type { Writable } from "node:stream";
import type { TerminalSize } from "../../../executor/index.ts";
import { type LogRecord, readLog, watchLog } from "../../logs/index.ts";
import { type ContainerStatus, specOf, type TaskRecord } from "../../model/index.ts";
import { inputEnds, takesInput } from "../../plan/index.ts";
import { EngineError } from "../errors.ts";
import type { ContainerRuntime } from "./runtime.ts";

export interface Attachment {
  /** The container's output from now until it ends, read from its log. */
  readonly output: AsyncGenerator<readonly LogRecord[], void, undefined>;
  /** Standard input of the container; undefined if the request did not ask for it. Ending this stream does not end the container's standard input. */
  readonly stdin: Writable | undefined;
  /** The client's input has ended: so does that of a container with `stdin: once`. That of any other stays open. */
  endInput(): void;
  /** Resolves with the exit code, which is 128 + signal if a signal ended the container, or null if it is not known. */
  readonly ended: Promise<number | null>;
  /** Resizes the container's terminal. @throws ExecutorError wrong-state: the container has no terminal, or has ended */
  resize(size: TerminalSize): void;
  /** Detaches: ends `output` and closes `stdin`, which is the end of an input that ends once. The container runs on. */
  leave(): void;
}

export interface AttachRequest {
  /** Whether the client wants to write to standard input. */
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
function checkStdin(record: TaskRecord, container: string, { stdin }: AttachRequest): void {
  const spec = specOf(record, container);
  if (stdin && !(spec !== undefined && takesInput(spec)))
    throw new EngineError("no-stdin", `container ${container} of task ${record.name} has neither stdin nor tty`, { task: record.name });
}

/** Whether the input of the container ends with that of its first client. */
function endsOnce(record: TaskRecord, container: string): boolean {
  const spec = specOf(record, container);
  return spec !== undefined && inputEnds(spec);
}

/** What `attachTo` needs. @param log path of the container's log. @throws EngineError unknown-container, no-log, no-stdin */
export function attachOptions(record: TaskRecord, container: string | undefined, request: AttachRequest, log: string): AttachOptions {
  const { name } = containerOf(record, container);
  checkLog(record, name);
  checkStdin(record, name, request);
  return { log, hasStdin: request.stdin, inputEnds: endsOnce(record, name) };
}

export interface AttachOptions {
  /** Path of the container's log. */
  readonly log: string;
  readonly hasStdin: boolean;
  /** The input of the container ends with that of its first client. */
  readonly inputEnds: boolean;
}

type Streams = Awaited<ReturnType<ContainerRuntime["streams"]>>;

/** A writer for this client, and what keeps the input open until the first client goes. @throws EngineError no-stdin: the input has ended */
function inputOf(container: Streams): { readonly stdin: Writable; readonly held: Writable } {
  const held = container.stdin;
  if (held === undefined || held.destroyed) throw new EngineError("no-stdin", "standard input of the container has ended");
  return { stdin: container.openStdin(), held };
}

/** @throws EngineError no-stdin; ExecutorError wrong-state: the container has just ended */
export function attachTo(container: Streams, { log, hasStdin, inputEnds }: AttachOptions): Attachment {
  const input = hasStdin && inputEnds ? inputOf(container) : undefined;
  const stdin = input?.stdin ?? (hasStdin ? container.openStdin() : undefined);
  const watch = watchLog(log);
  let isOver = false;
  const end = () => {
    isOver = true;
    watch.wake();
  };
  // The executor reports the end of a container after its log is complete.
  const ended = container.wait().then(({ exitCode }) => exitCode);
  ended.then(end, end);
  return {
    output: until(readLog(log, { tail: 0, follow: { isOver: () => isOver, changed: watch.changed } }), watch.close),
    stdin,
    ended,
    resize: (size) => container.resize(size),
    endInput() {
      // What has come before is written first.
      input?.stdin.end();
      input?.held.destroy();
    },
    leave() {
      stdin?.destroy();
      input?.held.destroy();
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

interface Named {
  readonly name: string;
}

interface Container extends Named {
  readonly type: "normal" | "namespacePause";
}

/** Annotation of Kubernetes that names the container for commands that name none. */
const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

interface Task<C> extends Named {
  readonly containers: readonly C[];
  readonly spec?: {
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly containers?: readonly { readonly name: string; readonly essential: boolean }[];
  };
}

/**
 * Finds a container by name, or without a name the one that the task's annotation names, the only one of the task file, or the only one that is
 * essential: containers that prepare a pod, and its sidecars, are not.
 * @throws EngineError unknown-container
 */
export function containerOf<C extends Container>(task: Task<C>, named?: string): C {
  const { name, containers, spec } = task;
  const own = containers.filter(({ type }) => type === "normal");
  const essential = spec?.containers?.filter((one) => one.essential) ?? [];
  const only = own.length === 1 ? own[0]!.name : essential.length === 1 ? essential[0]!.name : undefined;
  const asked = named ?? (own.length === 1 ? only : (spec?.annotations?.[DEFAULT_CONTAINER] ?? only));
  const found = containers.find((one) => one.name === asked);
  if (found !== undefined) return found;
  if (own.length === 0)
    throw new EngineError("unknown-container", `task ${name} has a schedule and no containers: name one of its runs`, {
      task: name,
      containers: [],
    });
  const names = own.map((one) => one.name);
  const message = asked === undefined ? `task ${name} has more than one container` : `task ${name} has no container ${asked}`;
  throw new EngineError("unknown-container", `${message}: ${names.join(", ")}`, { task: name, containers: names });
}

const RUNNING: readonly ContainerStatus[] = ["RUNNING", "RESOURCES_PROVISIONED"];

export const isRunning = (known: ContainerStatus): boolean => RUNNING.includes(known);

/** Likewise, one that runs. @throws EngineError unknown-container, container-not-running */
export function runningContainer<C extends Container & { readonly known: ContainerStatus }>(task: Task<C>, asked: string | undefined): C {
  const found = containerOf(task, asked);
  if (isRunning(found.known)) return found;
  const facts = { task: task.name, known: found.known };
  throw new EngineError("container-not-running", `container ${found.name} of task ${task.name} is ${found.known}`, facts);
}
