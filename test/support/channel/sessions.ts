/** Sessions of a guest as it is, and with something wrong in them. */

export type Random = (below: number) => number;

/** What the guest says, or what the host does then. */
export type Step =
  | { readonly guest: Uint8Array }
  /** A stream of a further process, or of a container that has to be made. */
  | { readonly host: "open" }
  | { readonly host: "create" }
  /** It sends as much stdin as it may, or hands on all output that has come. */
  | { readonly host: "feed" | "release"; readonly stream: number };

/** mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

const KINDS = { hello: 1, started: 7, stdout: 8, stderr: 9, exit: 10, failed: 11, credit: 12, created: 13, oom: 19 } as const;

function frame(kind: number, stream: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, payload.length, true);
  view.setUint8(4, kind);
  view.setUint32(8, stream, true);
  bytes.set(payload, 12);
  return bytes;
}

/** Of ASCII: the fuzzer's engine has no TextEncoder. */
const bytesOf = (words: string): Uint8Array => Uint8Array.from(words, (character) => character.charCodeAt(0));
const text = (value: unknown): Uint8Array => bytesOf(JSON.stringify(value));
const some = <T>(list: readonly T[], random: Random): T => list[random(list.length)]!;

/** Two streams as `runt create` and `runt exec` have them: one that runs, and one that may fail. */
export function session(random: Random): Step[] {
  const steps: Step[] = [{ host: "create" }, { guest: frame(KINDS.hello, 0, text({ version: "1.0", commit: "abc" })) }, { host: "open" }];
  const says = (kind: keyof typeof KINDS, stream: number, payload: Uint8Array = new Uint8Array(0)): void =>
    void steps.push({ guest: frame(KINDS[kind], stream, payload) });
  for (const stream of [1, 2]) {
    if (random(3) === 0) says("stderr", stream, new Uint8Array(1 + random(40)));
    if (stream === 2 && random(2) === 0) {
      says("failed", stream, text({ message: "no such file", status: 1 + random(255), shown: random(2) === 0 }));
      continue;
    }
    if (stream === 1) says("created", stream);
    says("started", stream);
    for (let turn = random(4); turn > 0; turn--) {
      const output = new Uint8Array(some([1, 5, 90, 16_384], random));
      for (let times = 1 + random(4); times > 0; times--) says(some(["stdout", "stderr"] as const, random), stream, output);
      if (random(4) === 0) says("oom", stream);
      steps.push({ host: "release", stream });
      if (random(2) === 0) {
        steps.push({ host: "feed", stream });
        says("credit", stream, credit(some([1, 16_384, 65_536], random), 0));
      }
    }
    if (random(4) > 0) says("exit", stream, new Uint8Array([random(256)]));
  }
  return steps;
}

function credit(bytes: number, channel: number): Uint8Array {
  const payload = new Uint8Array(5);
  new DataView(payload.buffer).setUint32(0, bytes, true);
  payload[4] = channel;
  return payload;
}

/** Texts that the frame may not have, by its kind. */
const NO_JSON = [bytesOf("{}x"), Uint8Array.from([0x7b, 0xff, 0x7d]), ...["text", null, 5, {}, []].map(text)];
const FAILURE = { message: "m", status: 1, shown: true };
const TEXTS: Readonly<Record<number, readonly Uint8Array[]>> = {
  [KINDS.hello]: [
    ...NO_JSON,
    ...[{ version: "1" }, { commit: "c" }, { version: 1, commit: "c" }].map(text),
    notUtf8({ version: "~", commit: "c" }),
  ],
  [KINDS.failed]: [
    ...NO_JSON,
    ...[0, 256, 1.5, "1"].map((status) => text({ ...FAILURE, status })),
    ...[{ message: 1 }, { shown: 1 }].map((wrong) => text({ ...FAILURE, ...wrong })),
    notUtf8({ ...FAILURE, message: "~" }),
  ],
};

/** Whole JSON, but for a byte. */
function notUtf8(value: unknown): Uint8Array {
  return text(value).map((byte) => (byte === 0x7e ? 0xff : byte));
}

/** The same with one thing changed. */
export function damaged(steps: readonly Step[], random: Random): Step[] {
  const next = [...steps];
  const at = random(next.length);
  const step = next[at]!;
  if (!("guest" in step)) return random(2) === 0 ? next.filter((_, index) => index !== at) : next;
  const bytes = Uint8Array.from(step.guest);
  const view = new DataView(bytes.buffer);
  switch (random(10)) {
    case 0:
      return next.filter((_, index) => index !== at);
    case 1:
      next.splice(random(next.length + 1), 0, step);
      return next;
    case 2:
      view.setUint8(4, random(20));
      break;
    case 3:
      view.setUint32(8, random(4), true);
      break;
    case 4:
      view.setUint8(5 + random(3), 1 << random(8));
      break;
    case 5:
      view.setUint32(0, some([0, 1, 2, 4, 5, 6, 4097, 16_385, 32_769, 0xffff_ffff], random), true);
      break;
    case 6:
      if (bytes.length > 12) bytes[12 + random(bytes.length - 12)] = random(256);
      break;
    case 7: {
      const texts = next.flatMap((each, index) => ("guest" in each && each.guest[4]! in TEXTS ? index : []));
      if (texts.length === 0) return next;
      const place = some(texts, random);
      const { guest } = next[place] as { readonly guest: Uint8Array };
      next[place] = { guest: frame(guest[4]!, guest[8]!, some(TEXTS[guest[4]!]!, random)) };
      return next;
    }
    case 8:
      // The channel of a credit, the status of an end; or credit for nothing.
      if (bytes.length > 12) bytes[bytes.length - 1] = random(4);
      if (bytes[4] === KINDS.credit && random(2) === 0) bytes.fill(0, 12);
      break;
    default:
      // A frame of another kind that is whole by itself.
      next.splice(at, 0, {
        guest: frame(some([8, 9, random(20)], random), random(4), new Uint8Array(some([0, 1, 4, 5, 6, 4097, 16_384, 16_385], random))),
      });
      return next;
  }
  next[at] = { guest: bytes };
  return next;
}
