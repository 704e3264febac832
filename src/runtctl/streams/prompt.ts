/** Questions to the user on the terminal. */
import { raise, readStdin, stderr } from "../platform/index.ts";
import { takeTerminal } from "./terminal.ts";

const KEY = { interrupt: 0x03, end: 0x04, backspace: 0x08, lineFeed: 0x0a, carriageReturn: 0x0d, drop: 0x15, delete: 0x7f } as const;

/** Reads a line, which the terminal shows. undefined: the input has ended. */
export async function askLine(question: string): Promise<string | undefined> {
  stderr.write(question);
  const pieces: Uint8Array[] = [];
  for (;;) {
    const piece = await readStdin(() => false);
    if (piece === undefined) return undefined;
    pieces.push(piece);
    if (piece.includes(KEY.lineFeed)) return Buffer.concat(pieces).toString().split("\n")[0];
  }
}

/** Reads a line that the terminal does not show. ^C ends this program by SIGINT. undefined: the input has ended. */
export async function askHidden(question: string): Promise<string | undefined> {
  stderr.write(question);
  const line = new HiddenLine();
  const terminal = takeTerminal(() => {});
  try {
    while (line.end === undefined) {
      const piece = await readStdin(() => false);
      if (piece === undefined) return undefined;
      line.add(piece);
    }
  } finally {
    terminal.restore();
    stderr.write("\n");
  }
  if (line.end === "interrupted") raise("SIGINT");
  return line.end === "done" ? line.text : undefined;
}

/** What was typed, with the keys of a terminal that delete a character or the line. */
export class HiddenLine {
  readonly #bytes: number[] = [];
  /** closed: ^D at the beginning of the line. */
  end: "done" | "interrupted" | "closed" | undefined;

  get text(): string {
    return Buffer.from(Uint8Array.from(this.#bytes)).toString();
  }

  add(keys: Uint8Array): void {
    for (const key of keys) {
      if (this.end !== undefined) return;
      if (key === KEY.carriageReturn || key === KEY.lineFeed) this.end = "done";
      else if (key === KEY.interrupt) this.end = "interrupted";
      else if (key === KEY.end && this.#bytes.length === 0) this.end = "closed";
      else if (key === KEY.delete || key === KEY.backspace) this.#deleteCharacter();
      else if (key === KEY.drop) this.#bytes.length = 0;
      else this.#bytes.push(key);
    }
  }

  /** A character of UTF-8 has a first byte and further ones, which begin with the bits 10. */
  #deleteCharacter(): void {
    while (((this.#bytes.pop() ?? 0) & 0xc0) === 0x80);
  }
}
