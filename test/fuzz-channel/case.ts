/** A case of the fuzzer: what the guest says and what the host does then, as bytes that may be changed anywhere and are a case again. */

export const OPS = {
  /** u16 length, bytes: at once. */
  guest: 0,
  /** The same, behind a byte: in pieces that are one longer than that. */
  pieces: 1,
  open: 2,
  create: 3,
  /** Of a stream (u8), as much as there may be, but no more than u16 and one. */
  feed: 4,
  release: 5,
  close: 6,
  /** What the host's side never does, or no decoder lets through: u8 says which. */
  wrong: 7,
} as const;
const OPS_COUNT = Object.keys(OPS).length;

export interface Item {
  readonly op: number;
  /** Stream, size of the pieces, or which. */
  readonly which: number;
  readonly most: number;
  readonly guest: Uint8Array;
}

const NOTHING = new Uint8Array(0);
const HEAD_MOST = 4;

const isGuest = (op: number): boolean => op === OPS.guest || op === OPS.pieces;
const hasMost = (op: number): boolean => isGuest(op) || op === OPS.feed || op === OPS.release;
const hasWhich = (op: number): boolean => op !== OPS.guest && op !== OPS.open && op !== OPS.create;

export function parseCase(bytes: Uint8Array): Item[] {
  const items: Item[] = [];
  let at = 0;
  const byte = (): number => bytes[at++] ?? 0;
  const short = (): number => byte() | (byte() << 8);
  while (at < bytes.length) {
    const op = byte() % OPS_COUNT;
    const which = hasWhich(op) ? byte() : 0;
    const most = hasMost(op) ? short() : 0;
    items.push({ op, which, most, guest: isGuest(op) ? bytes.subarray(at, at + most) : NOTHING });
    if (isGuest(op)) at += most;
  }
  return items;
}

export function printCase(items: readonly Item[]): Uint8Array {
  const bytes = new Uint8Array(items.reduce((sum, { guest }) => sum + HEAD_MOST + guest.length, 0));
  let at = 0;
  const put = (...head: readonly number[]): void => {
    for (const each of head) bytes[at++] = each;
  };
  for (const { op, which, most, guest } of items) {
    const length = isGuest(op) ? guest.length : most;
    put(op);
    if (hasWhich(op)) put(which);
    if (hasMost(op)) put(length & 0xff, length >> 8);
    bytes.set(guest, at);
    at += guest.length;
  }
  return bytes.subarray(0, at);
}

/** At once; what is longer than a length says is several. */
export function guestItems(bytes: Uint8Array): Item[] {
  const items: Item[] = [];
  for (let at = 0; at < bytes.length; at += 0xffff)
    items.push({ op: OPS.guest, which: 0, most: 0, guest: bytes.subarray(at, at + 0xffff) });
  return items;
}
export const hostItem = (name: keyof typeof OPS, which = 0, most = 0xffff): Item => ({ op: OPS[name], which, most, guest: NOTHING });
