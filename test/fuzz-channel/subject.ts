/** What the fuzzer executes (target.c): the host's side of a machine's channel beside the rules that are written a second time. */
import {
  type ChannelName,
  decodeCredit,
  decodeSize,
  encodeCredit,
  encodeFrame,
  encodeSize,
  type Frame,
  FrameDecoder,
  HostSession,
  ProtocolError,
  WINDOW,
} from "../../src/runtime/isolation/channel/index.ts";
import { ChannelRules } from "../support/channel/rules.ts";
import { damaged, randomFrom, type Step } from "../support/channel/sessions.ts";
import { guestItems, type Item, OPS, parseCase, printCase } from "./case.ts";

type Decode = (bytes: Uint8Array) => string;

/** Bytes of a frame that say what it is. */
const HEADER = 12;
const KIND_AT = 4;
const STREAM_AT = 8;

/** Of `wrong`: as many streams as there may be. Few cases have it by chance, for it takes ten times as long as others. */
export const FILL = 255;

/** Thrown, and told by the fuzzer. */
class Finding extends Error {}

const OUTPUTS = ["stdout", "stderr"] as const;
const MOST_BYTES_WITHOUT_RELEASE = 2 * WINDOW;

class Trial {
  readonly #decoder = new FrameDecoder("guest");
  readonly #peer = new FrameDecoder("host");
  readonly #host: HostSession;
  readonly #rules: ChannelRules;
  readonly #closed = new Set<number>();

  constructor(decode: Decode) {
    this.#host = new HostSession(decode);
    this.#rules = new ChannelRules(decode);
  }

  /** False: the guest has said what it may not, and the machine ends. */
  step({ op, which, most, guest }: Item): boolean {
    if (op === OPS.guest) return this.#hear(guest, guest.length);
    if (op === OPS.pieces) return this.#hear(guest, which + 1);
    if (op === OPS.open || op === OPS.create) this.#open(op === OPS.create);
    else if (op === OPS.feed) this.#feed(which, most + 1);
    else if (op === OPS.release) for (const each of OUTPUTS) this.#release(which, each, most + 1);
    else if (op === OPS.close) {
      if (this.#host.isOpen(which)) this.#closed.add(which);
      this.#host.closeStdin(which);
    } else this.#wrong(which);
    return true;
  }

  #hear(bytes: Uint8Array, size: number): boolean {
    const isAllowed = this.#rules.allows(bytes);
    const isTaken =
      isRefused(() => {
        for (let at = 0; at < bytes.length; at += size)
          for (const frame of this.#decoder.push(bytes.subarray(at, at + size))) this.#receive(frame);
      }) === undefined;
    if (isTaken !== isAllowed)
      throw new Finding(`${isTaken ? "taken" : "refused"} of a guest, which ${isAllowed ? "may" : "may not"} say it`);
    if (isTaken) for (const stream of [1, 2, 3]) this.#compare(stream);
    return isTaken;
  }

  #receive(frame: Frame): void {
    const event = this.#host.receive(frame);
    if ((event.what === "ended" || event.what === "failed") && this.#host.isOpen(event.stream)) throw new Finding("open after its end");
    if (event.what === "hello" && !this.#host.greeted) throw new Finding("not greeted by a hello");
    if (this.#decoder.missing < 1) throw new Finding("a frame that is whole and has not come");
  }

  #compare(stream: number): void {
    const rules = this.#rules.streams.get(stream);
    const held = OUTPUTS.map((each) => this.#host.held(stream, each));
    if (this.#host.isOpen(stream) !== (rules !== undefined)) throw new Finding(`stream ${stream} is not what it is by the rules`);
    if (held.some((each, index) => each !== (rules?.used[OUTPUTS[index]!] ?? 0))) throw new Finding(`stream ${stream} holds ${held}`);
    if (held[0]! + held[1]! > MOST_BYTES_WITHOUT_RELEASE) throw new Finding(`stream ${stream} has brought ${held}`);
    const left = rules === undefined || this.#closed.has(stream) ? 0 : WINDOW - rules.owed;
    if (this.#host.stdinLeft(stream) !== left) throw new Finding(`stream ${stream} takes ${this.#host.stdinLeft(stream)}, not ${left}`);
  }

  #open(isContainer: boolean): boolean {
    if (this.#host.open(isContainer) === undefined) return false;
    this.#rules.open(isContainer);
    return true;
  }

  #feed(stream: number, most: number): void {
    const bytes = Math.min(this.#host.stdinLeft(stream), most);
    this.#host.spendStdin(stream, bytes);
    const rules = this.#rules.streams.get(stream);
    if (rules) rules.owed += bytes;
  }

  #release(stream: number, channel: (typeof OUTPUTS)[number], most: number): void {
    const bytes = Math.min(this.#host.held(stream, channel), most);
    if (bytes === 0) return;
    this.#host.release(stream, channel, bytes);
    this.#rules.streams.get(stream)!.used[channel] -= bytes;
    this.#sends(stream, channel, bytes);
  }

  /** The other side reads what the host has written. */
  #sends(stream: number, channel: ChannelName, bytes: number): void {
    const [frame, ...more] = this.#peer.push(encodeFrame("credit", stream, encodeCredit({ channel, bytes })));
    const read = frame && decodeCredit(frame.payload);
    if (frame?.stream !== stream || read?.channel !== channel || read.bytes !== bytes || more.length > 0 || !this.#peer.atRest)
      throw new Finding("another credit than was written");
  }

  #wrong(which: number): void {
    const stream = (which >> 2) & 3;
    if (which === FILL) while (this.#open(false));
    else if (which % 4 === 0) {
      const size = decodeSize(encodeSize({ rows: which, columns: which << 8 }));
      if (size.rows !== which || size.columns !== which << 8) throw new Finding("another size than was written");
    } else if (which % 4 === 1) {
      if (!(isThrown(() => encodeFrame("stdin", stream)) instanceof RangeError)) throw new Finding("a frame without its bytes");
    } else if (which % 4 === 2) {
      const more = this.#host.held(stream, "stdout") + 1;
      if (this.#host.isOpen(stream) !== (isRefused(() => this.#host.release(stream, "stdout", more)) !== undefined))
        throw new Finding("credit for what has not come");
    } else if (isRefused(() => this.#host.receive({ name: "stdin", stream, payload: new Uint8Array(1) })) === undefined) {
      throw new Finding("taken of a guest, which is the host's to say");
    }
  }
}

function isThrown(action: () => void): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** @throws what is no refusal */
function isRefused(action: () => void): ProtocolError | undefined {
  const error = isThrown(action);
  if (error === undefined || error instanceof ProtocolError) return error;
  throw error;
}

/** @throws Finding, and any error that the host's side has not for a guest */
export function execute(bytes: Uint8Array, decode: Decode): void {
  const trial = new Trial(decode);
  parseCase(bytes).every((item) => trial.step(item));
}

type Said = { readonly kept: Item } | { readonly guest: Uint8Array };

/** Another case: one thing is wrong in what the guest says, or a step of the host's is left out. */
export function mutate(bytes: Uint8Array, seed: number): Uint8Array {
  const random = randomFrom(seed);
  const steps = parseCase(bytes).map((item): Said => (item.guest.length < HEADER ? { kept: item } : { guest: item.guest }));
  if (steps.length === 0) return bytes;
  const ways = [
    () => damaged(steps as readonly unknown[] as readonly Step[], random) as readonly unknown[] as readonly Said[],
    () => repeated(steps, random),
    () => bent(steps, random),
  ];
  const changed = ways[random(ways.length)]!();
  return printCase(changed.flatMap((step) => ("kept" in step ? step.kept : guestItems(step.guest))));
}

/** What is said once is said elsewhere, too, of any stream. */
function repeated(steps: readonly Said[], random: (below: number) => number): Said[] {
  const step = steps[random(steps.length)]!;
  const next = [...steps];
  if ("kept" in step) return next;
  const copy = Uint8Array.from(step.guest);
  copy[STREAM_AT] = random(4);
  next.splice(random(next.length + 1), 0, { guest: copy });
  return next;
}

/** One byte behind a header. Each kind of frame that there is has the same chance, however many there are of it. */
function bent(steps: readonly Said[], random: (below: number) => number): readonly Said[] {
  const longer = steps.flatMap((step, index) => ("guest" in step && step.guest.length > HEADER ? { index, guest: step.guest } : []));
  const kinds = [...new Set(longer.map(({ guest }) => guest[KIND_AT]!))];
  if (kinds.length === 0) return steps;
  const kind = kinds[random(kinds.length)];
  const ofKind = longer.filter(({ guest }) => guest[KIND_AT] === kind);
  const { index, guest } = ofKind[random(ofKind.length)]!;
  const copy = Uint8Array.from(guest);
  copy[random(2) === 0 ? copy.length - 1 : HEADER + random(copy.length - HEADER)] = random(random(2) === 0 ? 4 : 256);
  return steps.with(index, { guest: copy });
}
