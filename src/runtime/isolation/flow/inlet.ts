/** Bytes that come in through a descriptor, as many as may go on. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import type { Loop, Watched } from "./loop.ts";

export interface InletOptions {
  /** How many bytes may come now. */
  readonly room: () => number;
  readonly data: (bytes: Uint8Array) => void;
  /** Nothing comes any more. */
  readonly end: () => void;
}

export class Inlet implements Watched {
  readonly fd: number;
  readonly #loop: Loop;
  readonly #options: InletOptions;

  constructor(loop: Loop, fd: number, options: InletOptions) {
    this.fd = fd;
    this.#loop = loop;
    this.#options = options;
    loop.add(this);
  }

  wants(): number {
    return this.#options.room() > 0 ? host.POLL.IN : 0;
  }

  ready(): void {
    this.#read();
  }

  /** Of a descriptor that does not block: takes what is there, and takes for the end that nothing is. What has no room stays for the next call. */
  finish(): void {
    while (this.#options.room() > 0) {
      const more = this.#read();
      if (more === undefined) this.#end();
      if (!more) return;
    }
  }

  /** undefined: nothing is there now. False: nothing comes any more. */
  #read(): boolean | undefined {
    const bytes = kernel.readSome(this.fd, this.#options.room());
    if (bytes === undefined) return undefined;
    if (bytes.byteLength > 0) this.#options.data(new Uint8Array(bytes));
    else this.#end();
    return bytes.byteLength > 0;
  }

  #end(): void {
    this.stop();
    this.#options.end();
  }

  /** Nothing more is read; the descriptor stays open. */
  stop(): void {
    this.#loop.remove(this);
  }
}
