/** Parses quantities of Kubernetes, such as "100m", "1.5Gi", "1e3". Exact for any number of digits. */

/** A fraction. The denominator is positive. */
interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const FORM = /^([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,2})|([KMGTPE]i)|([numkMGTPE]))?$/;
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Readonly<Record<string, bigint>> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };

const MOST = BigInt(Number.MAX_SAFE_INTEGER);

export function isQuantity(text: string): boolean {
  return FORM.test(text);
}

/**
 * In units of 1 / `parts`, rounded up: `parts` is 1000 for thousandths of a CPU, and 1 for
 * bytes. What is larger than any host has becomes the largest number that is exact. @throws RangeError: the text is no quantity
 */
export function quantityIn(text: string | number, parts = 1): number {
  const { numerator, denominator } = read(String(text));
  const value = ceiling(numerator * BigInt(parts), denominator);
  return value > MOST ? Number.MAX_SAFE_INTEGER : Number(value);
}

/** Positive: `one` is larger; negative: `other` is. Exact. @throws RangeError: a text is no quantity */
export function compareQuantities(one: string | number, other: string | number): number {
  const [a, b] = [read(String(one)), read(String(other))];
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  return left === right ? 0 : left > right ? 1 : -1;
}

/** The quantity divided by `divisor`, rounded up, as resourceFieldRef defines it. @throws RangeError */
export function quantityPer(text: string | number, divisor: string | number): string {
  const a = read(String(text));
  const b = read(String(divisor));
  return String(ceiling(a.numerator * b.denominator, a.denominator * b.numerator));
}

function read(text: string): Quantity {
  const form = FORM.exec(text);
  if (form === null) throw new RangeError(`${text} is no quantity`);
  const [, sign, digits = "", exponent, binary, decimal] = form;
  const [whole = "", fraction = ""] = digits.split(".");
  const power = (exponent === undefined ? (decimal === undefined ? 0 : DECIMAL[decimal]!) : Number(exponent)) - fraction.length;
  const count = BigInt(`${whole}${fraction}`) * (binary === undefined ? 1n : 1024n ** BINARY[binary]!) * (sign === "-" ? -1n : 1n);
  return power < 0
    ? { numerator: count, denominator: 10n ** BigInt(-power) }
    : { numerator: count * 10n ** BigInt(power), denominator: 1n };
}

/** Quotient of two integers, rounded up. The denominator is positive. */
function ceiling(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator > quotient * denominator ? quotient + 1n : quotient;
}
