/** Arithmetic of IPv4 addresses and networks. */

export interface AddressRange {
  readonly first: number;
  readonly last: number;
}

/** Four numbers from 0 to 255. Leading zeros are refused, because some programs read such numbers as octal. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const PREFIX = /^(?:[12]?\d|3[0-2])$/;

/** The range of an IPv4 address or of a network such as "10.0.0.0/8". An address is a range of one. undefined: other text, such as "default". */
export function rangeOf(text: string): AddressRange | undefined {
  const [ip = "", length = "32"] = text.split("/");
  if (!IPV4.test(ip) || !PREFIX.test(length)) return undefined;
  const size = 2 ** (32 - Number(length));
  const first = Math.floor(numberOf(ip) / size) * size;
  return { first, last: first + size - 1 };
}

export function numberOf(ip: string): number {
  return ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

export function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.first <= b.last && b.first <= a.last;
}

/** The parts of a range that remain without the addresses in `taken`, in ascending order. */
export function without(range: AddressRange, taken: readonly number[]): AddressRange[] {
  const left: AddressRange[] = [];
  let { first } = range;
  for (const one of [...new Set(taken)].sort((a, b) => a - b)) {
    if (one < first || one > range.last) continue;
    if (one > first) left.push({ first, last: one - 1 });
    first = one + 1;
  }
  return first > range.last ? left : [...left, { first, last: range.last }];
}
