/** What the frames say that are more than bytes. */
import { ProtocolError } from "./frame.ts";

/** Of the guest's first process, when it serves. */
export interface Hello {
  readonly version: string;
  readonly commit: string;
}

/** What a stream is for. */
export type Opening =
  /** The container itself: made, and started when the host says so. */
  | {
      readonly what: "container";
      readonly id: string;
      readonly config: string;
      /** Plain data, which is the network's affair (../network/links.ts). */
      readonly interfaces: readonly object[];
      /** That the guest's kernel needs for its devices. */
      readonly modules?: readonly string[];
      /** Plain data (../request.ts): block devices of the host, in the order of the machine's disks. */
      readonly disks?: readonly object[];
      /** It joins the machine of another container: this entry of the shared directory is its own. */
      readonly shared?: string;
      /** It is deleted in the guest when its program has ended. */
      readonly temporary?: true;
      readonly terminal: boolean;
      readonly size?: undefined;
    }
  /** A container that has joined is deleted, and nothing of its entry of the shared directory is held any more. */
  | { readonly what: "removal"; readonly id: string; readonly terminal: false; readonly size?: undefined }
  /** A further process: `runt exec` with these words, `process` as its process document. */
  | {
      readonly what: "exec";
      readonly id: string;
      readonly flags: readonly string[];
      readonly args: readonly string[];
      readonly process?: string;
      readonly terminal: boolean;
      readonly size?: Size;
    }
  /** Another verb of the guest's runt, about the container. */
  | { readonly what: "verb"; readonly words: readonly string[]; readonly terminal: false; readonly size?: undefined };

export interface Size {
  readonly rows: number;
  readonly columns: number;
}

export interface Failure {
  readonly message: string;
  readonly status: number;
  /** It has come by stderr, too. */
  readonly shown: boolean;
}

/** A channel of bytes of a stream, as a credit names it. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2 } as const;
export type ChannelName = keyof typeof CHANNEL;
const CHANNELS = Object.keys(CHANNEL) as ChannelName[];

export interface Credit {
  readonly channel: ChannelName;
  readonly bytes: number;
}

export function encodeCredit({ channel, bytes }: Credit): Uint8Array {
  const payload = new Uint8Array(5);
  new DataView(payload.buffer).setUint32(0, bytes, true);
  payload[4] = CHANNEL[channel];
  return payload;
}

/** @throws ProtocolError */
export function decodeCredit(payload: Uint8Array): Credit {
  const channel = CHANNELS[payload[4]!];
  if (channel === undefined) throw new ProtocolError(`credit for channel ${payload[4]}`);
  return { channel, bytes: viewOf(payload).getUint32(0, true) };
}

export function encodeSize({ rows, columns }: Size): Uint8Array {
  const payload = new Uint8Array(4);
  const view = new DataView(payload.buffer);
  view.setUint16(0, rows, true);
  view.setUint16(2, columns, true);
  return payload;
}

export function decodeSize(payload: Uint8Array): Size {
  const view = viewOf(payload);
  return { rows: view.getUint16(0, true), columns: view.getUint16(2, true) };
}

/** @throws ProtocolError */
export function parseHello(text: string): Hello {
  const { version, commit } = membersOf(text, "hello");
  if (typeof version !== "string" || typeof commit !== "string") throw new ProtocolError("a hello without a version");
  return { version, commit };
}

/** @throws ProtocolError */
export function parseFailure(text: string): Failure {
  const { message, status, shown } = membersOf(text, "failed");
  if (
    typeof message !== "string" ||
    typeof shown !== "boolean" ||
    !Number.isInteger(status) ||
    (status as number) < 1 ||
    (status as number) > 255
  ) {
    throw new ProtocolError("a failure without its words");
  }
  return { message, status: status as number, shown };
}

function membersOf(text: string, frame: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProtocolError(`a frame ${frame} that is not JSON`);
  }
  if (typeof value !== "object" || value === null) throw new ProtocolError(`a frame ${frame} that is no object`);
  return value as Readonly<Record<string, unknown>>;
}

function viewOf(payload: Uint8Array): DataView {
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
}
