import type { Output } from "../contract.ts";

/** As in errors.ts. */
const FAILED = 1;

class Stream implements Output {
  readonly #of: () => NodeJS.WriteStream;
  #taken: NodeJS.WriteStream | undefined;

  constructor(of: () => NodeJS.WriteStream) {
    this.#of = of;
  }

  /** Node opens it when it is asked for. */
  get #stream(): NodeJS.WriteStream {
    this.#taken ??= this.#of().on("error", broken);
    return this.#taken;
  }

  get isTTY(): boolean {
    return this.#stream.isTTY === true;
  }

  write(text: string): void {
    this.#stream.write(text);
  }

  async send(bytes: Uint8Array): Promise<void> {
    const stream = this.#stream;
    // Both may be the same pipe, and Node has a queue for each.
    if (last.of !== this) await last.written;
    let isTaken = true;
    const written = new Promise<void>((resolve) => {
      isTaken = stream.write(bytes, () => resolve());
    });
    last = { of: this, written };
    if (!isTaken) await written;
  }
}

/** What was sent last. */
let last: { readonly of: Output | undefined; readonly written: Promise<void> } = { of: undefined, written: Promise.resolve() };

function broken({ code }: NodeJS.ErrnoException): void {
  if (code !== "EPIPE") process.stderr.write(`runtctl: the output cannot be written: ${code}\n`);
  process.exit(FAILED);
}

export const stdout: Output = new Stream(() => process.stdout);
export const stderr: Output = new Stream(() => process.stderr);

export function print(line: string): void {
  stdout.write(`${line}\n`);
}

export function printError(line: string): void {
  stderr.write(`${line}\n`);
}
