/** The client of the daemon. */
import type { Duplex } from "node:stream";
import type { LogRecord } from "../engine/index.ts";
import { openForward } from "./forward.ts";
import { type CallOptions, Limit } from "./limit.ts";
import type { PoolRunEnd, PoolRunStart, StreamStart } from "./models.ts";
import { type Answers, OPERATIONS, type Progress, type Requests, START_FIELDS } from "./operations.ts";
import { openProgram, type Program } from "./program.ts";
import { type Sockets, socketsIn } from "./protocol/index.ts";
import { checkOptions, type Fields, invalid, jsonOf, namesOf, type OperationName, questionOf } from "./request.ts";
import { framedIn, type JournalEvent, journalIn, progressIn, recordsIn } from "./streams.ts";
import { SUBJECTS } from "./subjects.ts";
import { ask, objectIn, piecesOf, type Question, textOf } from "./transport.ts";

export interface ConnectOptions {
  /** Socket of the daemon. Default: RUNTD_SOCKET, else admin.sock in `runDir`, or read.sock there for reads of users who may not use the first. */
  readonly socket?: string | undefined;
  /** Directory of the daemon's sockets. Default: /run/runtd. */
  readonly runDir?: string | undefined;
  /**
   * Milliseconds until an answer must be there, for calls that do not say it. Default: 30,000. Calls that are answered only when their work is done, such as
   * `files.apply`, have no limit but the one that the call itself says.
   */
  readonly timeoutMs?: number | undefined;
}

/** A file that exists before a program of a pool begins. */
export interface PoolFile {
  /** In the container. */
  readonly path: string;
  /** Permission bits. */
  readonly mode?: number | undefined;
  /** Text is written as UTF-8. */
  readonly content: string | Uint8Array;
}

export type ExecRequest = Requests["execInTask"] & StreamStart;
export type PoolRunRequest = Requests["runInPool"] & Omit<PoolRunStart, "files"> & { readonly files?: readonly PoolFile[] | undefined };
export type LogsRequest = Omit<Requests["readLogs"], "format" | "places" | "timestamps">;

/** Calls whose answer is no JSON value and no progress. */
interface Special {
  getMetrics(request?: Requests["getMetrics"], options?: CallOptions): Promise<string>;
  /** Reads the log of a container. With `from: record.next` and `follow` it goes on after that record. */
  readLogs(request: LogsRequest, options?: CallOptions): AsyncGenerator<LogRecord, void, undefined>;
  /** Follows the journal. It has no end: the loop ends by `break`, by the signal, or by an error. */
  followEvents(request?: Requests["followEvents"], options?: CallOptions): AsyncGenerator<JournalEvent, never, undefined>;
  /** The archive in pieces. */
  saveImage(request: Requests["saveImage"], options?: CallOptions): AsyncGenerator<Uint8Array, void, undefined>;
  /** Starts another program in a container. */
  execInTask(request: ExecRequest, options?: CallOptions): Promise<Program>;
  /** Attaches to the streams of a running container. */
  attachToTask(request: Requests["attachToTask"], options?: CallOptions): Promise<Program>;
  /** Runs a program in a container of a pool. */
  runInPool(request: PoolRunRequest, options?: CallOptions): Promise<Program<PoolRunEnd>>;
  /** Connects to a TCP port in the network of a task. If no program listens there, the stream fails with "not-connected". */
  forwardPort(request: Requests["forwardPort"], options?: CallOptions): Promise<Duplex>;
}

/** The request may be left out if it has no field that is needed. */
type Arguments<R> = Record<never, never> extends R ? [request?: R, options?: CallOptions] : [request: R, options?: CallOptions];

type Method<O> = O extends keyof Special
  ? Special[O]
  : O extends keyof Progress
    ? (...args: Arguments<O extends OperationName ? Requests[O] : never>) => AsyncGenerator<Progress[O], void, undefined>
    : O extends keyof Answers
      ? (...args: Arguments<Requests[O]>) => Promise<Answers[O]>
      : never;

type Subjects = typeof SUBJECTS;

/** Calls of the daemon. Each rejects with ClientError, or with the reason of its signal. */
export type EngineClient = {
  readonly [S in keyof Subjects]: { readonly [M in keyof Subjects[S]]: Method<Subjects[S][M]> };
};

const USUAL_MS = 30_000;
/** Calls that are answered only when their work is done, however long it takes. */
const LONG: ReadonlySet<OperationName> = new Set([
  "pruneImages",
  "removeVolumes",
  "listVolumes",
  "runInPool",
  "applyFile",
  "planFile",
  "autoUpdate",
]);
/** Fields of a request for logs that decide how it is answered, and that the client sets. */
const OF_THE_CLIENT: readonly string[] = ["format", "places", "timestamps"];

/** Connects to a daemon when a call needs it: each has a connection of its own, so that nothing is to be closed. @throws ClientError invalid-argument */
export function connect(options: ConnectOptions = {}): EngineClient {
  checkOptions("connect", options, ["socket", "runDir", "timeoutMs"]);
  const { socket, runDir, timeoutMs = USUAL_MS } = options;
  const sockets = socketsIn({ socket, runDir, environment: process.env });
  // An invalid number is an error now, not at the first call.
  new Limit({ timeoutMs }, USUAL_MS).over();
  const methods = (subject: Readonly<Record<string, OperationName>>) =>
    Object.fromEntries(Object.entries(subject).map(([name, operation]) => [name, methodOf(sockets, operation, timeoutMs)]));
  return Object.fromEntries(Object.entries(SUBJECTS).map(([name, subject]) => [name, methods(subject)])) as unknown as EngineClient;
}

function methodOf(sockets: Sockets, operation: OperationName, usualMs: number) {
  const known = knownOf(operation);
  const call = (fields: Fields = {}, options: CallOptions = {}) => {
    checkOptions(operation, fields, known);
    checkOptions(`options of ${operation}`, options, ["signal", "timeoutMs"]);
    const limit = () => new Limit(options, LONG.has(operation) ? Number.POSITIVE_INFINITY : usualMs);
    return { fields, limit };
  };
  const { kind } = OPERATIONS[operation];
  if (kind === "upgrade")
    return async (...args: Parameters<typeof call>) => {
      const { fields, limit } = call(...args);
      return during(limit(), (one) => opened(sockets, operation, fields, one));
    };
  if (kind === "json" || kind === "text")
    return async (...args: Parameters<typeof call>) => {
      const { fields, limit } = call(...args);
      const question = questionOf(operation, fields);
      const text = await during(limit(), async (one) => textOf(await ask(sockets, question, one), one));
      return kind === "json" ? objectIn(text) : text;
    };
  return (...args: Parameters<typeof call>) => {
    const prepare = () => {
      const { fields, limit } = call(...args);
      const question = questionOf(operation, operation === "readLogs" ? { ...fields, format: "records", places: true } : fields);
      return { question, limit: limit() };
    };
    return streamOf(operation)(piecesWhenRead(sockets, prepare));
  };
}

function knownOf(operation: OperationName): readonly string[] {
  const names = namesOf(operation).filter((name) => operation !== "readLogs" || !OF_THE_CLIENT.includes(name));
  return [...names, ...((START_FIELDS as Readonly<Record<string, readonly string[]>>)[operation] ?? [])];
}

/** Ends the limit if the call fails. */
async function during<T>(limit: Limit, action: (limit: Limit) => Promise<T>): Promise<T> {
  try {
    return await action(limit);
  } catch (error) {
    limit.over();
    throw error;
  }
}

/** Sends the request when the first piece is read. Before that there is no connection, and no error is thrown. */
async function* piecesWhenRead(
  sockets: Sockets,
  prepare: () => { readonly question: Question; readonly limit: Limit },
): AsyncGenerator<Uint8Array, void, undefined> {
  const { question, limit } = prepare();
  const answer = await during(limit, () => ask(sockets, question, limit));
  limit.answered();
  yield* piecesOf(answer, limit);
}

function streamOf(operation: OperationName): (pieces: AsyncIterable<Uint8Array>) => AsyncGenerator<unknown, void, undefined> {
  if (operation === "readLogs") return recordsIn;
  if (operation === "followEvents") return journalIn;
  return OPERATIONS[operation].kind === "events" ? progressIn : framedIn;
}

async function opened(sockets: Sockets, operation: OperationName, fields: Fields, limit: Limit): Promise<Program | Duplex> {
  const question = questionOf(operation, fields);
  if (operation === "forwardPort") return openForward(sockets, question, limit);
  const hasStdin = fields["stdin"] === true;
  if (operation === "attachToTask") return openProgram(sockets, question, { hasStdin }, limit);
  const names: readonly string[] = operation === "runInPool" ? START_FIELDS.runInPool : START_FIELDS.execInTask;
  const start = Object.fromEntries(names.map((name) => [name, fields[name]]));
  const files = operation === "runInPool" ? filesOf(fields["files"]) : undefined;
  if (files === undefined) return openProgram(sockets, question, { hasStdin, start: jsonOf(operation, start) }, limit);
  const named = files.map(({ path, mode, content }) => ({ path, mode, bytes: content.length }));
  const text = jsonOf(operation, { ...start, files: named });
  return openProgram(sockets, question, { hasStdin, start: text, files: files.map(({ content }) => content) }, limit);
}

/** @throws ClientError invalid-argument */
function filesOf(files: unknown): readonly (PoolFile & { readonly content: Uint8Array })[] | undefined {
  if (files === undefined) return undefined;
  if (!Array.isArray(files)) throw invalid("runInPool: files is no list");
  return files.map((file: PoolFile) => {
    checkOptions("a file of runInPool", file, ["path", "mode", "content"]);
    const content = typeof file.content === "string" ? Buffer.from(file.content) : file.content;
    if (!(content instanceof Uint8Array)) throw invalid("a file of runInPool: content is no text and no bytes");
    return { ...file, content };
  });
}
