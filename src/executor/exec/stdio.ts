/** The process' ends of its standard streams, and the caller's. */
import type { ChildProcess } from "node:child_process";
import { closeSync, constants, openSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { ExecutorError } from "../errors.ts";
import type { OutputStdio, SpawnStdio } from "./request.ts";

const { O_APPEND, O_CREAT, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/** For child_process.spawn. */
export type ChildEnd = number | "ignore" | "pipe";

export interface OpenedStdio {
  readonly ends: readonly [ChildEnd, ChildEnd, ChildEnd];
  /** Close what the child has by then. */
  close(): void;
}

type Ends = Required<SpawnStdio>;

/** Which streams there are when nothing is said. */
export function withDefaults({ stdin = "null", stdout = "pipe", stderr = "pipe" }: SpawnStdio, pty: boolean): Ends {
  return { stdin, stdout, stderr: pty ? "null" : stderr };
}

/** @throws ExecutorError invalid-argument, or what openSync throws; nothing stays open then */
export function openEnds({ stdin, stdout, stderr }: Ends): OpenedStdio {
  const opened: number[] = [];
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags, 0o600);
    opened.push(fd);
    return fd;
  };
  const close = () => {
    for (const fd of opened.splice(0)) closeSync(fd);
  };
  const end = (name: keyof Ends, stdio: OutputStdio | Readable | Writable): ChildEnd => {
    if (stdio === "null") return "ignore";
    if (stdio === "pipe" || isStream(name, stdio)) return "pipe";
    const path = typeof stdio !== "object" ? undefined : "file" in stdio ? stdio.file : "fifo" in stdio ? stdio.fifo : undefined;
    if (path === undefined) throw refused(name, `${JSON.stringify(stdio)}: use "null", "pipe", { file }, { fifo } or a stream`);
    if (!isAbsolute(path)) throw refused(name, `${path} is not absolute`);
    const isFifo = statSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false;
    if ("file" in (stdio as object)) {
      // This process would wait until another one opens the other end.
      if (isFifo) throw refused(name, `${path} is a FIFO, not a file`);
      return open(path, name === "stdin" ? O_RDONLY : O_WRONLY | O_CREAT | O_APPEND);
    }
    if (name === "stdin" || !isFifo)
      throw refused(name, name === "stdin" ? "use a stream: a FIFO has an end only when it had a writer" : `${path} is not a FIFO`);
    // For reading, too: then open(2) waits for no reader, and a reader that leaves causes no error.
    return open(path, O_RDWR);
  };
  try {
    return { ends: [end("stdin", stdin), end("stdout", stdout), end("stderr", stderr)], close };
  } catch (error) {
    close();
    throw error;
  }
}

function isStream(name: keyof Ends, stdio: object | string): stdio is Readable | Writable {
  return typeof stdio === "object" && typeof (stdio as Partial<Readable & Writable>)[name === "stdin" ? "pipe" : "write"] === "function";
}

function refused(name: keyof Ends, reason: string): ExecutorError {
  return new ExecutorError("invalid-argument", `stdio.${name}: ${reason}`, { field: `stdio.${name}` });
}

/** What the caller gets of a child: a stream of it where he asked for "pipe", nothing where he gave his own. */
export interface CallerEnds {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Outputs that go into streams of the caller. */
  readonly copied: readonly Readable[];
  /** Leave the caller's stdin alone from now on. */
  detach(): void;
}

export function connect(child: ChildProcess, { stdin, stdout, stderr }: Ends): CallerEnds {
  const copied: Readable[] = [];
  const output = (name: "stdout" | "stderr", asked: OutputStdio | Writable): Readable | undefined => {
    const source = child[name];
    if (source === null) return undefined;
    if (!isStream(name, asked)) return kept(source);
    const sink = asked as Writable;
    source.pipe(sink, { end: false });
    // The caller has closed its stream: the process gets EPIPE, as from any reader that has ended.
    const leave = () => source.destroy();
    sink.once("close", leave).once("error", leave);
    source.once("close", () => sink.off("close", leave).off("error", leave));
    copied.push(source);
    return undefined;
  };
  const input = child.stdin ?? undefined;
  // The process may end before it has read all.
  input?.on("error", () => input.destroy());
  const given = isStream("stdin", stdin) ? (stdin as Readable) : undefined;
  if (given && input) given.pipe(input);
  return {
    stdin: given ? undefined : input,
    stdout: output("stdout", stdout),
    stderr: output("stderr", stderr),
    copied,
    detach() {
      if (given && input) given.unpipe(input);
    },
  };
}

/** What a child has printed, also after its end: Node drops output of which nothing was read by then (child_process, `flushStdio`). */
function kept(source: Readable): Readable {
  const output = new PassThrough();
  source.pipe(output);
  source.once("error", (error) => output.destroy(error));
  // The process gets EPIPE, because there is no reader any more.
  output.once("close", () => source.destroy());
  return output;
}

/** Wait until all of these have ended, for so many milliseconds at most; then they are destroyed. */
export async function settled(streams: readonly Readable[], atMostMs: number | undefined): Promise<void> {
  const closed = Promise.all(streams.map((stream) => stream.closed || new Promise((resolve) => stream.once("close", resolve))));
  let timer: NodeJS.Timeout | undefined;
  if (atMostMs === undefined) await closed;
  else await Promise.race([closed, new Promise((resolve) => (timer = setTimeout(resolve, atMostMs)))]);
  clearTimeout(timer);
  for (const stream of streams) stream.destroy();
}
