/** The content of resolv.conf, and its mount for tasks for which the engine makes no network. Pure. */
import type { Mount, OciObject } from "../../executor/index.ts";
import type { ContainerSpec, DnsSpec } from "../spec/index.ts";
import { isMountedAt } from "./taken.ts";

const RESOLV = "/etc/resolv.conf";

/** `isHostNetwork`: whether servers on the host's loopback interface can be reached. Source: resolv.conf(5). */
export function resolvText(dns: DnsSpec | undefined, hostResolv: string, isHostNetwork: boolean): string {
  const { servers, search, options } = dns === undefined || dns.inherit ? parsed(hostResolv) : { servers: [], search: [], options: [] };
  const base = isHostNetwork ? servers : servers.filter((server) => !/^(127\.|::1$)/.test(server));
  return textOf({
    servers: distinct([...base, ...(dns?.servers ?? [])]),
    search: distinct([...search, ...(dns?.search ?? [])]),
    options: merged([...options, ...(dns?.options ?? [])]),
  });
}

/** @param source path of the file; undefined: the task has none */
export function resolvMounts(source: string | undefined, container: ContainerSpec, config: OciObject | undefined): Mount[] {
  if (source === undefined || isMountedAt(RESOLV, container, config)) return [];
  return [{ destination: RESOLV, source, type: "bind", options: ["bind", "rprivate", "nosuid", "nodev", "noexec", "ro"] }];
}

type Lists = Readonly<Record<"servers" | "search" | "options", readonly string[]>>;

/** Of several `search` and `domain` lines the last one counts, as for the resolver. */
function parsed(text: string): Lists {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  const all = (keyword: string) => lines.filter(([word]) => word === keyword).map(([, ...values]) => values);
  return {
    servers: all("nameserver").flatMap(([server]) => server ?? []),
    search: lines.findLast(([word]) => word === "search" || word === "domain")?.slice(1) ?? [],
    options: all("options").flat(),
  };
}

function textOf({ servers, search, options }: Lists): string {
  return [
    ...servers.map((server) => `nameserver ${server}\n`),
    ...(search.length === 0 ? [] : [`search ${search.join(" ")}\n`]),
    ...(options.length === 0 ? [] : [`options ${options.join(" ")}\n`]),
  ].join("");
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}

/** A later value of an option, such as "ndots:2", replaces an earlier one in its place. */
function merged(options: readonly string[]): string[] {
  return [...new Map(options.map((option) => [option.split(":")[0]!, option])).values()];
}
