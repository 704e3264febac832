/** What a container has under Podman, beside what it has under runt. */
import { CAPABILITIES } from "../../src/shared/linux/index.ts";
import type { Facts } from "../compose-model/stub.ts";

export interface Difference {
  /** Of the pod and the container: what is compared, like "environment HOME". */
  readonly field: string;
  readonly podman: unknown;
  readonly runt: unknown;
}

const bits = (hex = "0") => CAPABILITIES.filter((_, at) => (BigInt(`0x${hex}`) >> BigInt(at)) & 1n).sort();
/** Options of a mount that say what may be done there. The others are of its file system. */
const RIGHTS = /^(?:ro|rw|nosuid|nodev|noexec)$/;

/** @returns one for each field that is not the same */
export function compare(podman: Facts, runt: Facts): Difference[] {
  const found: Difference[] = [];
  const same = (field: string, a: unknown, b: unknown) => {
    if (JSON.stringify(a) !== JSON.stringify(b)) found.push({ field, podman: a, runt: b });
  };
  const both = <T>(kind: string, a: Readonly<Record<string, T>>, b: Readonly<Record<string, T>>, of: (one: T | undefined) => unknown) => {
    for (const name of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()) same(`${kind} ${name}`, of(a[name]), of(b[name]));
  };
  both("environment", podman.environment, runt.environment, (one) => one);
  same("arguments", podman.arguments, runt.arguments);
  for (const name of ["directory", "user", "hostname", "oom", "ports", "pings", "NoNewPrivs"]) same(name, podman.one[name], runt.one[name]);
  const groupsOf = (facts: Facts) => facts.one["groups"]?.split(" ").map(Number).sort();
  same("groups", groupsOf(podman), groupsOf(runt));
  same("capabilities", bits(podman.one["CapBnd"]), bits(runt.one["CapBnd"]));
  for (const name of Object.keys({ ...podman.one, ...runt.one }).filter((key) => key.includes(".")))
    same(`cgroup ${name}`, podman.one[name], runt.one[name]);
  both("mount", podman.mounts, runt.mounts, (options) => options?.filter((one) => RIGHTS.test(one)).sort());
  return found;
}

/** Containers that begin before an init container in front of them has ended, which shows in what they print. */
export function orderOf(order: readonly { readonly name: string; readonly isInit: boolean; readonly facts: Facts }[]): string[] {
  const began = (facts: Facts) => Number(facts.one["began"]);
  return order.flatMap((one, at) =>
    order
      .slice(0, at)
      .flatMap((other) => (other.isInit && began(other.facts) > began(one.facts) ? [`${one.name} before ${other.name}`] : [])),
  );
}
