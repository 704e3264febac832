/** What the resolver of tasks is told: one file for each network, in the form of aardvark-dns (config.md there). */
import { type CniPlugin, hostIn, type NetworkStep, serversOf } from "../plan/index.ts";
import type { NetworkSpec, TaskSpec } from "../spec/index.ts";
import type { Attachment, Attachments } from "./attachments.ts";
import { hostResolv } from "./files.ts";
import { Resolver, type ResolverOptions } from "./resolver.ts";

/** A task that others of its networks find. */
export interface NamedTask {
  readonly id: string;
  readonly name: string;
  readonly network: NetworkSpec;
}

/** A virtual address that tasks of a network find by its names. */
export interface NamedService {
  readonly names: readonly string[];
  readonly address: string;
  /** Ids of tasks whose first network is that of the service. */
  readonly members: readonly string[];
}

/** What the resolver answers. */
export interface Known {
  /** In the order in which they were made. */
  readonly tasks: readonly NamedTask[];
  readonly services: readonly NamedService[];
}

/** With this end of the name of a network nothing is asked outside for tasks that are in no other network. Known since 1.11. */
const INTERNAL = "%int";
/** For older versions: nobody listens at the broadcast address of loopback, and the kernel refuses to send to it. */
const NOBODY = "127.255.255.255";
/** A blank, a comma or the end of a line would begin something else in the file, and an older version ends at a file that it cannot read. */
const NAME = /^[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?$/;
const LOOPBACK = /^(127\.|::1$)/;

/** The names of tasks, as the resolver answers them. Nothing here rejects: `problem` says what has failed. */
export class ResolvedNames {
  readonly #resolver: Resolver;
  readonly #attachments: Pick<Attachments, "all" | "read">;
  #known: Known = { tasks: [], services: [] };

  constructor(resolver: ResolverOptions, attachments: Pick<Attachments, "all" | "read">) {
    this.#resolver = new Resolver(resolver);
    this.#attachments = attachments;
  }

  /** Why tasks of named networks have no resolver; "": they have one, or there are none. */
  get problem(): string {
    if (this.#resolver.problem !== "") return this.#resolver.problem;
    return this.#known.tasks.length > 0 && this.#resolver.program === undefined ? this.#resolver.missing : "";
  }

  /** Whether a new task is to ask the resolver. */
  isFor(spec: TaskSpec): boolean {
    return mayResolve(spec) && this.#resolver.program !== undefined;
  }

  /** All tasks of named networks that have their addresses. */
  know(known: Known): void {
    this.#known = known;
    void this.refresh();
  }

  /** To be called when a network was made or given back. */
  refresh(): Promise<void> {
    const all = this.#attachments.all();
    const isAsked = all.some(({ resolves }) => resolves);
    return this.#resolver.answer(isAsked ? resolverFiles(all, this.#known, hostResolv()) : new Map());
  }

  /** Resolves when a task can ask. */
  async ready(id: string): Promise<void> {
    const { resolves, steps } = this.#attachments.read(id) ?? {};
    const host = resolves ? steps!.map(hostOf).find((one) => one !== undefined) : undefined;
    if (host === undefined) return;
    await this.refresh();
    await this.#resolver.ready(host);
  }

  /** To be called again and again, with all tasks of named networks. */
  async look(known: Known): Promise<void> {
    this.know(known);
    await this.#resolver.look();
  }

  /** Of a task that has given its network back: with the last one the resolver ends. */
  async leave({ resolves }: Pick<Attachment, "resolves">): Promise<void> {
    if (resolves) await this.refresh();
  }

  tidy(): Promise<void> {
    return this.#attachments.all().some(({ resolves }) => resolves) ? Promise.resolve() : this.#resolver.tidy();
  }
}

/** Whether a task may ask the resolver: a name server on its own loopback is one that only the task reaches. */
export function mayResolve({ network }: Pick<TaskSpec, "network">): boolean {
  return network?.mode === "bridge" && network.name !== undefined && !(network.dns?.servers ?? []).some((one) => LOOPBACK.test(one));
}

/** Address of the host in the network of a bridge; undefined: the step makes something else. */
export function hostOf({ plugins }: NetworkStep): string | undefined {
  const network = bridgedIn(plugins.find(({ type }) => type === "bridge"));
  return network === undefined ? undefined : hostIn(network);
}

type Subnets = readonly { readonly subnet: string; readonly gateway?: string }[];

/** The network in the configuration of the plugin `bridge`. */
export function bridgedIn(plugin: CniPlugin | undefined): Subnets[number] | undefined {
  const { ipam } = (plugin ?? {}) as { readonly ipam?: { readonly ranges?: readonly Subnets[] } };
  return ipam?.ranges?.[0]?.[0];
}

/** The files by their names. Pure. @param hostResolv content of resolv.conf of the host */
export function resolverFiles(
  attachments: readonly Attachment[],
  { tasks, services }: Known,
  hostResolv: string,
): ReadonlyMap<string, string> {
  const files = new Map<string, string[]>();
  for (const { steps, resolves } of attachments) {
    for (const step of resolves ? steps : []) {
      const host = hostOf(step);
      if (host !== undefined) files.set(fileOf(step), [host]);
    }
  }
  const byId = new Map(attachments.map((one) => [one.containerId, one]));
  for (const { names, address, members } of services) {
    const [step] = members.flatMap((id) => byId.get(id)?.steps.slice(0, 1) ?? []);
    const own = namesIn(names);
    // The id is that of no task.
    if (step !== undefined && own.length > 0) files.get(fileOf(step))?.push(`service-${own[0]} ${address}  ${own.join(",")}`);
  }
  // If two tasks have the same name, the newer one comes first, because many take the first address.
  for (const task of tasks.toReversed()) {
    const { steps = [], results } = byId.get(task.id) ?? {};
    steps.forEach((step, at) => {
      const addresses = (results?.[at]?.ips ?? []).map(({ address }) => address.split("/")[0]!);
      const line = lineOf(task, [task.network, ...(task.network.further ?? [])][at], { steps, addresses, hostResolv });
      if (line !== undefined) files.get(fileOf(step))?.push(line);
    });
  }
  return new Map([...files].map(([name, lines]) => [name, lines.map((line) => `${line}\n`).join("")]));
}

/** The steps of a task with named networks are these networks, in order. A step without rules of the host is that of an internal network (plan/network.ts). */
function fileOf({ name, nat }: NetworkStep): string {
  return nat === undefined ? `${name}${INTERNAL}` : name;
}

interface Attached {
  readonly steps: readonly NetworkStep[];
  readonly addresses: readonly string[];
  readonly hostResolv: string;
}

function lineOf(
  { id, name, network: { dns } }: NamedTask,
  said: Pick<NetworkSpec, "aliases"> | undefined,
  { steps, addresses, hostResolv }: Attached,
): string | undefined {
  const names = namesIn([name, ...(said?.aliases ?? [])]);
  if (names.length === 0 || addresses.length === 0) return undefined;
  const of = (isWanted: (address: string) => boolean) => addresses.filter(isWanted).join(",");
  const isInside = steps.every((step) => step.nat === undefined && hostOf(step) !== undefined);
  const servers = isInside ? [NOBODY] : serversOf(dns, hostResolv);
  const words = [id, of((one) => !one.includes(":")), of((one) => one.includes(":")), names.join(",")];
  return [...words, ...(servers.length === 0 ? [] : [servers.join(",")])].join(" ");
}

function namesIn(given: readonly string[]): string[] {
  return [...new Set(given.map(plain))].filter((one) => NAME.test(one));
}

/** Names are asked for without regard to their case, and with or without the dot at their end. */
function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}
