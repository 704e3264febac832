/** What was seen before the power went: a file that is on the disk when a line of it has been told, whatever the store of the daemon says. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";

export type Seen =
  | { readonly what: "boot"; readonly bootId: string }
  /** It may be there, or not. */
  | { readonly what: "asked"; readonly name: string }
  /** The daemon has said that it is recorded. */
  | { readonly what: "applied" | "succeeded"; readonly name: string }
  /** It may be gone, must go, is gone. */
  | { readonly what: "deleting" | "accepted" | "deleted"; readonly name: string }
  /** A task that runs, in this incarnation. */
  | { readonly what: "running"; readonly name: string; readonly generation: number }
  | { readonly what: "sequence"; readonly last: number }
  /** For the report. */
  | { readonly what: "checked"; readonly check: string; readonly wrong: string | null };

export class Witness {
  readonly seen: Seen[];
  readonly #fd: number;

  constructor(path: string) {
    // The power may have gone in the middle of a line: nobody was told of it.
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    this.seen = text
      .split("\n")
      .slice(0, -1)
      .flatMap((line) => parsed(line));
    this.#fd = openSync(path, "a");
    if (text !== "" && !text.endsWith("\n")) writeSync(this.#fd, "\n");
  }

  /** Returns when it is on the disk. */
  tell(seen: Seen): void {
    writeSync(this.#fd, `${JSON.stringify(seen)}\n`);
    fsyncSync(this.#fd);
    this.seen.push(seen);
  }

  /** Names of which this was told. */
  names(what: "asked" | "applied" | "succeeded" | "deleting" | "accepted" | "deleted"): Set<string> {
    return new Set(this.seen.flatMap((one) => (one.what === what ? [one.name] : [])));
  }

  of<W extends Seen["what"]>(what: W): Extract<Seen, { what: W }>[] {
    return this.seen.filter((one): one is Extract<Seen, { what: W }> => one.what === what);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function parsed(line: string): Seen[] {
  try {
    return [JSON.parse(line) as Seen];
  } catch {
    return [];
  }
}
