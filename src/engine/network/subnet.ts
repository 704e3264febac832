/** Chooses the subnet of a network: a range to which the host has no route. It is chosen once and stored on disk. Pure. */
import { createHash } from "node:crypto";
import { isIPv4 } from "node:net";

/** Private addresses that are rarely used: 10.64.0.0 to 10.127.255.255, divided into networks of 4094 addresses. */
const FIRST = 10 * 2 ** 24 + 64 * 2 ** 16;
const LENGTH = 20;
const SIZE = 2 ** (32 - LENGTH);
const COUNT = (64 * 2 ** 16) / SIZE;

interface Range {
  readonly first: number;
  readonly last: number;
}

/**
 * The search starts at a position that depends on the name, so that two engines rarely choose the same subnet. undefined: no subnet is free.
 * @param taken such as "10.0.0.0/8" or "192.168.1.1"; other texts, such as "default", are ignored
 */
export function freeSubnet(name: string, taken: readonly string[]): string | undefined {
  const ranges = taken.flatMap((one) => rangeOf(one) ?? []);
  const start = createHash("sha256").update(name).digest().readUInt32BE() % COUNT;
  for (let at = 0; at < COUNT; at++) {
    const first = FIRST + ((start + at) % COUNT) * SIZE;
    const last = first + SIZE - 1;
    if (!ranges.some((range) => range.first <= last && first <= range.last)) return `${dotted(first)}/${LENGTH}`;
  }
  return undefined;
}

function rangeOf(text: string): Range | undefined {
  const [ip = "", length = "32"] = text.split("/");
  if (!isIPv4(ip) || !(Number(length) <= 32)) return undefined;
  const size = 2 ** (32 - Number(length));
  const value = ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const first = Math.floor(value / size) * size;
  return { first, last: first + size - 1 };
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}
