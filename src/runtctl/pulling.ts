/** Pulls or builds an image through the daemon, and shows the progress: a bar on a terminal, otherwise a line for each step. */
import { type Sockets, serverEvents } from "../client/protocol/index.ts";
import type { EngineEvent, Progress, TaskView } from "../engine/index.ts";
import { askFirst, ClientError, objectIn, parsedOr, refusal } from "./client.ts";
import { progressBar, sizeText } from "./output/bar.ts";
import { printable } from "./output/style.ts";
import { printError, sleep, stderr } from "./platform/index.ts";
import type { Session } from "./session.ts";
import { allTasks } from "./tasks.ts";

export interface PulledImage {
  /** What was asked for, as a task names it. */
  readonly reference: string;
  readonly digest: string;
  readonly via: "pulled" | "current" | "cache" | "usingCachedDigest";
  readonly error: string | null;
}

/** The build is cancelled if this process ends. @throws ClientError */
export function buildImage(sockets: Sockets, body: object, onLine: (line: string) => void): Promise<PulledImage> {
  return resultOf<PulledImage>(sockets, { path: "/v1/images/build", body, result: "image" }, (event, value) => {
    if (event === "line") onLine((value as { readonly line: string }).line);
  });
}

export interface LongRequest {
  readonly path: string;
  readonly body: object;
  /** The event that ends it. */
  readonly result: string;
}

/** A request that tells how far it is until its result comes. It is cancelled if this process ends. @throws ClientError */
export async function resultOf<T>(
  sockets: Sockets,
  { path, body, result }: LongRequest,
  on: (event: string, value: unknown) => void,
): Promise<T> {
  const answered = await askFirst(sockets, { method: "POST", path, body: JSON.stringify(body), isStream: true });
  if (answered.status !== 200) throw refusal(await objectIn(answered));
  for await (const { event, data } of serverEvents(answered.body)) {
    const unreadable = () => new ClientError("no-daemon", "what answers is no runtd: it sends what cannot be read");
    const value = parsedOr(unreadable, data);
    if (typeof value !== "object" || value === null) throw unreadable();
    if (event === result) return value as T;
    if (event === "error") throw refusal(value as Readonly<Record<string, unknown>>);
    on(event, value);
  }
  throw new ClientError("unreachable", "the daemon has ended before the work was done");
}

const CLEAR = "\r\u001b[K";

/** The last line of the terminal, which is written again and again. */
export class LiveLine {
  #isThere = false;

  show(line: string): void {
    stderr.write(`\r${line}\u001b[K`);
    this.#isThere = true;
  }

  clear(): void {
    if (this.#isThere) stderr.write(CLEAR);
    this.#isThere = false;
  }
}

/** Body of the request. */
export interface PullAsked {
  readonly reference: string;
  readonly policy?: string | undefined;
  readonly credentials?: string | undefined;
}

/** The pull is cancelled if this process ends. @param isQuiet shows nothing. @throws ClientError */
export async function pullWithBar(sockets: Sockets, asked: PullAsked, isQuiet = false): Promise<PulledImage> {
  const live = stderr.isTTY && !isQuiet ? new LiveLine() : undefined;
  const name = printable(asked.reference);
  let isTold = false;
  const show = (event: string, value: unknown) => {
    if (isQuiet) return;
    if (event === "progress" && live !== undefined) live.show(progressBar(value as Progress));
    else if (event === "progress" && !isTold) printError(`pulling ${name}${sizeIn(value as Progress)}`);
    else if (event === "unpacking" && live !== undefined) live.show("unpacking");
    else if (event === "unpacking") printError(`unpacking ${name}`);
    isTold ||= event === "progress";
  };
  try {
    return await resultOf<PulledImage>(sockets, { path: "/v1/images/pull", body: asked, result: "image" }, show);
  } finally {
    live?.clear();
  }
}

/** A daemon that was started before an upgrade says nothing of layers. */
function sizeIn({ total, layers }: Progress | (Omit<Progress, "layers"> & { readonly layers?: undefined })): string {
  return total === null || !layers ? "" : sizeText({ layers: layers.total, bytes: total });
}

const LOOK_MS = 250;

/** Shows the pulls of tasks while something else is waited for. */
export class PullsOfTasks {
  readonly #client: Session["client"];
  readonly #ids: ReadonlySet<string>;
  readonly #live = stderr.isTTY ? new LiveLine() : undefined;
  #isLooking = false;
  #isOver = false;

  constructor({ client }: Session, ids: readonly string[]) {
    this.#client = client;
    this.#ids = new Set(ids);
  }

  /** An event of one of these tasks. */
  see(event: EngineEvent): void {
    if (event.type !== "pull") return;
    const { name, container, phase, reference, size } = event;
    if (this.#live === undefined) printError(printable(`${name}/${container}: ${phase} ${reference}${sizeText(size)}`));
    else if (!this.#isLooking) void this.#look(this.#live);
  }

  /** Nothing is shown any more. */
  end(): void {
    this.#isOver = true;
    this.#live?.clear();
  }

  /** Until nothing is pulled. A daemon that does not answer is told of by the wait itself. */
  async #look(live: LiveLine): Promise<void> {
    this.#isLooking = true;
    try {
      while (!this.#isOver) {
        const line = lineOf((await allTasks(this.#client)).filter(({ id }) => this.#ids.has(id)));
        if (this.#isOver || line === undefined) break;
        live.show(line);
        await sleep(LOOK_MS);
      }
    } catch {
      // The next event begins again.
    }
    this.#isLooking = false;
    live.clear();
  }
}

/** One line for all pulls of these tasks; undefined: there is none. */
export function lineOf(tasks: readonly Pick<TaskView, "name" | "containers">[]): string | undefined {
  const found = tasks.flatMap(({ name, containers }) => containers.filter(({ pull }) => pull !== undefined).map((one) => ({ name, one })));
  const [first, ...others] = found;
  if (first === undefined) return undefined;
  const coming = found.filter(({ one }) => one.pull === "pulling").flatMap(({ one }) => one.pullProgress ?? []);
  const whose = others.length === 0 ? `${first.name}/${first.one.name}` : `${found.length} containers`;
  if (found.every(({ one }) => one.pull === "unpacking")) return printable(`${whose}: unpacking`);
  return printable(`${whose}: pulling ${coming.length === 0 ? "" : progressBar(coming.reduce(together))}`);
}

function together(a: Progress, b: Progress): Progress {
  const layers = a.layers && b.layers ? { done: a.layers.done + b.layers.done, total: a.layers.total + b.layers.total } : null;
  return { bytes: a.bytes + b.bytes, total: a.total === null || b.total === null ? null : a.total + b.total, layers };
}
