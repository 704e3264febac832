/** The network of a sandbox: what its caller asks for, and which ranges of addresses can be named. Pure. */
import { isIPv4 } from "node:net";
import { ExecutorError } from "../../errors.ts";

/** See SandboxOptions.network. */
export type SandboxNetwork = "none" | "outbound" | { readonly outbound: { readonly private?: readonly string[] } };

/** The way out of a box: connections that its program begins, over IPv4. */
export interface Outbound {
  /** Private ranges that can be reached, too, such as "10.1.0.0/16". */
  readonly private: readonly string[];
}

/** Ranges of private networks (RFC 1918, RFC 6598). A box reaches nothing in them that is not named. */
export const PRIVATE_RANGES = ["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"] as const;

interface Range {
  /** First and last address as numbers. */
  readonly first: number;
  readonly last: number;
}

/** @param field for the message. undefined: no network. @throws ExecutorError invalid-argument */
export function outboundOf(network: unknown, field = "network"): Outbound | undefined {
  if (network === "none") return undefined;
  if (network === "outbound") return { private: [] };
  const { outbound, ...others } = isRecord(network) ? network : {};
  if (!isRecord(outbound) || Object.keys(others).length > 0)
    refuse(field, `${JSON.stringify(network)}: use "none", "outbound" or { outbound: { private: [...] } }`);
  const { private: named = [], ...unknown } = outbound;
  const [first] = Object.keys(unknown);
  if (first !== undefined) refuse(field, `outbound.${first}: there is no such option; use private`);
  if (!Array.isArray(named)) refuse(field, "outbound.private: expected a list of ranges");
  for (const range of named) checkPrivate(range, field);
  return { private: [...named] };
}

function checkPrivate(text: unknown, field: string): void {
  const range = typeof text === "string" ? rangeOf(text) : undefined;
  if (range === undefined) refuse(field, `outbound.private: ${JSON.stringify(text)} is no range of IPv4 addresses, such as 10.1.0.0/16`);
  const isWithin = PRIVATE_RANGES.map((one) => rangeOf(one)!).some(({ first, last }) => first <= range.first && range.last <= last);
  if (!isWithin)
    refuse(
      field,
      `outbound.private: ${text} is not in ${PRIVATE_RANGES.join(", ")}. Public addresses are reached without being named, all others never`,
    );
}

/** "10.0.0.0/8", or one address. undefined: it is neither, or has bits behind its prefix. */
function rangeOf(text: string): Range | undefined {
  const [address = "", length = "32", ...rest] = text.split("/");
  if (!isIPv4(address) || !/^(0|[1-9]\d?)$/.test(length) || Number(length) > 32 || rest.length > 0) return undefined;
  const first = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(length));
  return first % size === 0 ? { first, last: first + size - 1 } : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(field: string, reason: string): never {
  throw new ExecutorError("invalid-argument", `${field}: ${reason}`, { field });
}
