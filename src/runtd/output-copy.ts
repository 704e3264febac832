/** What containers print, on this program's standard output, a line of one container after a line of another. */
import { closeSync, openSync, readSync } from "node:fs";
import type { Engine } from "../engine/index.ts";

const LOOK_MS = 100;
const CHUNK = 65_536;

interface Source {
  readonly prefix: string;
  readonly path: string;
  fd: number | undefined;
  at: number;
  /** Of a line that is not whole yet. */
  rest: string;
}

export class OutputCopy {
  readonly #sources: readonly Source[];
  readonly #timer: NodeJS.Timeout;

  /** Of one container as it is; of several, each line with the container's name in front. */
  constructor(engine: Engine, ids: readonly string[], group: string) {
    const containers = ids.flatMap((id) => engine.get(id, group).containers);
    this.#sources = containers.map(({ name, log: path }) => ({
      prefix: containers.length === 1 ? "" : `${name} | `,
      path,
      fd: undefined,
      at: 0,
      rest: "",
    }));
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** The rest of it. */
  async finish(): Promise<void> {
    clearInterval(this.#timer);
    this.#look();
    for (const { fd, rest, prefix } of this.#sources) {
      if (rest !== "") process.stdout.write(`${prefix}${rest}\n`);
      if (fd !== undefined) closeSync(fd);
    }
  }

  #look(): void {
    for (const source of this.#sources) {
      source.fd ??= opened(source.path);
      if (source.fd === undefined) continue;
      const chunk = Buffer.alloc(CHUNK);
      for (let size = readSync(source.fd, chunk, 0, CHUNK, source.at); size > 0; size = readSync(source.fd, chunk, 0, CHUNK, source.at)) {
        source.at += size;
        const lines = (source.rest + chunk.toString("utf8", 0, size)).split("\n");
        source.rest = lines.pop()!;
        for (const line of lines) process.stdout.write(`${source.prefix}${line}\n`);
      }
    }
  }
}

/** undefined: nothing has been printed yet. */
function opened(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
