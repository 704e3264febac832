/** Limits the text that references of one file may grow to. Without a limit, a few lines that refer to each other could grow to gigabytes. */

/** In characters, for one file. */
const MOST_EXPANDED = 2 * 1024 * 1024;

export class TooLong extends Error {
  constructor() {
    super(`the references of the file grow to more than ${MOST_EXPANDED} characters`);
  }
}

export class Expansion {
  #left = MOST_EXPANDED;

  /** Must be called before the text is put together. @throws TooLong */
  take(length: number): void {
    this.#left -= length;
    if (this.#left < 0) throw new TooLong();
  }
}
