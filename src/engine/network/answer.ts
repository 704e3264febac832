/** Parses and checks the output of CNI plugins. Source: https://www.cni.dev/docs/spec (1.0.0 and 0.4.0). */
import { isIP } from "node:net";
import { z } from "zod";
import { boundedJson, cut, firstIssue } from "../../shared/text/index.ts";

const address = z.string().refine((value) => isIP(value) !== 0, "is no IP address");
const prefix = z.string().refine(isPrefix, "is no address with a prefix");

const cniResult = z.looseObject({
  cniVersion: z.string(),
  interfaces: z.array(z.looseObject({ name: z.string(), mac: z.string().optional(), sandbox: z.string().optional() })).optional(),
  ips: z.array(z.looseObject({ address: prefix, gateway: address.optional(), interface: z.int().optional() })).optional(),
  routes: z.array(z.looseObject({ dst: prefix, gw: address.optional() })).optional(),
});

export type CniResult = z.output<typeof cniResult>;

const cniError = z.looseObject({ code: z.int(), msg: z.string(), details: z.string().optional() });
const cniVersions = z.looseObject({ supportedVersions: z.array(z.string()) });

function isPrefix(value: string): boolean {
  const [ip = "", length, ...rest] = value.split("/");
  const version = isIP(ip);
  return version !== 0 && rest.length === 0 && /^\d{1,3}$/.test(length ?? "") && Number(length) <= (version === 4 ? 32 : 128);
}

export interface Expected {
  readonly version: string;
  readonly interface: string;
  readonly namespace: string;
}

/** The result of ADD, or a description of what is wrong with it. */
export function readResult(text: string, { version, interface: name, namespace }: Expected): CniResult | string {
  const { success, data, error } = cniResult.safeParse(json(text));
  if (!success) return text.trim() === "" ? "it is empty" : `it does not match the specification: ${firstIssue(error)}`;
  if (data.cniVersion !== version) return `it is of version ${cut(data.cniVersion)}, and ${version} was requested`;
  const { interfaces = [], ips = [] } = data;
  const lost = ips.find((ip) => ip.interface !== undefined && interfaces[ip.interface] === undefined);
  if (lost !== undefined) return `it gives ${lost.address} to an interface that it does not list`;
  if (interfaces.length > 0 && !interfaces.some((one) => one.name === name && one.sandbox === namespace))
    return `it has no interface ${name} in the task's namespace`;
  return data;
}

/** The error that a plugin reports on stdout; undefined: it reports none. */
export function readError(text: string): string | undefined {
  const { success, data } = cniError.safeParse(json(text));
  return success ? cut([`${data.msg} (code ${data.code})`, ...(data.details ? [data.details] : [])].join(": ")) : undefined;
}

/** The versions that a plugin supports; undefined: its answer does not name them. */
export function readVersions(text: string): readonly string[] | undefined {
  const { success, data } = cniVersions.safeParse(json(text));
  return success ? data.supportedVersions : undefined;
}

/** undefined: it is no JSON, or has far more values than the answer of a plugin. */
function json(text: string): unknown {
  try {
    return boundedJson(text);
  } catch {
    return undefined;
  }
}

export function hasAddress({ ips = [] }: CniResult, address: string): boolean {
  return ips.some((one) => one.address === address);
}

/** The addresses of the task, without those of the loopback interface. */
export function addressesOf(results: readonly CniResult[]): string[] {
  return results.flatMap(({ ips = [] }) => ips.map(({ address }) => address)).filter((address) => !/^(127\.|::1\/)/.test(address));
}

/** The address of the host in the first network of IPv4. */
export function gatewayOf(results: readonly CniResult[]): string | undefined {
  return results.flatMap(({ ips = [] }) => ips.flatMap(({ gateway }) => gateway ?? [])).find((one) => !one.includes(":"));
}
