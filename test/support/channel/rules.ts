/**
 * What a guest may say on the channel of a machine (docs/vm.md), written a second time and differently: tests compare the host's side with it. It
 * takes the bytes of the guest one after the other, and knows nothing of the code that it is compared with.
 */

const WINDOW = 65_536;
const HEADER = 12;

interface Stream {
  /** It may not start. */
  unmade: boolean;
  started: boolean;
  /** Bytes of stdin that the guest has not given credit for. */
  owed: number;
  /** Bytes of output that it has no credit for any more. */
  readonly used: Record<"stdout" | "stderr", number>;
}

/** Kind -> fewest and most bytes of payload. Kinds that a guest does not send are absent. */
const LENGTHS: Readonly<Record<number, readonly [number, number]>> = {
  1: [2, 4096],
  7: [0, 0],
  8: [1, 16_384],
  9: [1, 16_384],
  10: [1, 1],
  11: [2, 32_768],
  12: [5, 5],
  13: [0, 0],
  19: [0, 0],
};

type Decode = (bytes: Uint8Array) => string;

function utf8Decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

export class ChannelRules {
  readonly #decode: Decode;
  /** Of a frame that is not whole. */
  #bytes = new Uint8Array(0);
  #greeted = false;
  #opened = 0;
  readonly streams = new Map<number, Stream>();

  /** `decode`: UTF-8; it throws when the bytes are none. */
  constructor(decode: Decode = utf8Decode) {
    this.#decode = decode;
  }

  open(unmade: boolean): void {
    this.streams.set(++this.#opened, { unmade, started: false, owed: 0, used: { stdout: 0, stderr: 0 } });
  }

  /** Whether all of it may be said. After a no it is not asked again. */
  allows(bytes: Uint8Array): boolean {
    let all = new Uint8Array(this.#bytes.length + bytes.length);
    all.set(this.#bytes);
    all.set(bytes, this.#bytes.length);
    for (; all.length >= HEADER; ) {
      const [length, kind, stream] = [readU32(all, 0), all[4]!, readU32(all, 8)];
      const [fewest, most] = LENGTHS[kind] ?? [1, 0];
      if (length < fewest || length > most || all.subarray(5, 8).some((byte) => byte !== 0)) return false;
      if (all.length < HEADER + length) break;
      if (!this.#frame(kind, stream, all.subarray(HEADER, HEADER + length))) return false;
      all = all.subarray(HEADER + length);
    }
    this.#bytes = all;
    return true;
  }

  #frame(kind: number, number: number, payload: Uint8Array): boolean {
    if (kind === 1) {
      const first = !this.#greeted && number === 0;
      this.#greeted = true;
      return first && areTexts(this.#members(payload), "version", "commit");
    }
    const stream = this.streams.get(number);
    if (!this.#greeted || stream === undefined) return false;
    if (kind === 7) {
      const first = !stream.started && !stream.unmade;
      stream.started = true;
      return first;
    }
    if (kind === 13) {
      const first = stream.unmade;
      stream.unmade = false;
      return first;
    }
    if (kind === 19) return stream.started;
    if (kind === 8 || kind === 9) {
      const channel = kind === 8 ? "stdout" : "stderr";
      stream.used[channel] += payload.length;
      return stream.used[channel] <= WINDOW;
    }
    if (kind === 12) {
      const bytes = readU32(payload, 0);
      stream.owed -= bytes;
      return payload[4] === 0 && bytes > 0 && stream.owed >= 0;
    }
    this.streams.delete(number);
    return kind === 10 ? stream.started : !stream.started && isFailure(this.#members(payload));
  }

  /** None for what is no JSON object in UTF-8. */
  #members(payload: Uint8Array): Readonly<Record<string, unknown>> {
    try {
      return Object(JSON.parse(this.#decode(payload)) ?? {}) as Readonly<Record<string, unknown>>;
    } catch {
      return {};
    }
  }
}

function areTexts(members: Readonly<Record<string, unknown>>, ...names: readonly string[]): boolean {
  return names.every((name) => typeof members[name] === "string");
}

function isFailure(members: Readonly<Record<string, unknown>>): boolean {
  const { shown, status } = members;
  return (
    areTexts(members, "message") && typeof shown === "boolean" && Array.from({ length: 255 }, (_, at) => at + 1).includes(status as number)
  );
}

function readU32(bytes: Uint8Array, at: number): number {
  return bytes[at]! + 2 ** 8 * bytes[at + 1]! + 2 ** 16 * bytes[at + 2]! + 2 ** 24 * bytes[at + 3]!;
}
