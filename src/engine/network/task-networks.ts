/** Makes, checks and removes the networks of tasks. Every operation can be repeated after a crash at any point. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type BridgeNetwork,
  LOOPBACK_PLAN,
  type Named,
  type NetworkPlacement,
  type NetworkPlan,
  type NetworkStep,
  networkPlan,
  taskRules,
} from "../plan/index.ts";
import type { TaskSpec } from "../spec/index.ts";
import { addressesOf, type CniResult, gatewayOf } from "./answer.ts";
import { type Attachment, Attachments } from "./attachments.ts";
import { Bridges } from "./bridges.ts";
import { connectionsTo, unacceptedBy } from "./connections.ts";
import { merged, NetworkError } from "./errors.ts";
import { removeFiles, writeFiles, writeHosts } from "./files.ts";
import { type RuleOwner, sweepRules } from "./filter/iptables-saved.ts";
import { endFlows, type FlowsTo } from "./flows.ts";
import { HostFilter } from "./host-filter.ts";
import { Fallback, lackIn } from "./lacks.ts";
import { addRouting, isPinned, makeNamespace, unmountNamespaces, unpinNamespace } from "./namespace.ts";
import { Networks, networkName, type Said } from "./networks.ts";
import { Openings } from "./openings.ts";
import type { Making, Provided, Provision, TaskNetworksOptions } from "./options.ts";
import { add, CNI_PATH, check, leavesRules, Plugins, parentsOf, remove } from "./plugin.ts";
import { checkInterface, checkPort } from "./ports.ts";
import { ResolvedNames } from "./resolver-names.ts";
import type { ServicePorts } from "./service-ports.ts";
import { INSIDE_MS, type ReachedService, TaskNamespaceRules } from "./task-rules.ts";
import { Lost, type TidyOptions, tidyBridges, tidyLeases, tidyNamespaces } from "./tidy.ts";
import { Together } from "./together.ts";

const TIMEOUT_MS = 30_000;

export class TaskNetworks {
  readonly #options: TaskNetworksOptions;
  readonly #timeoutMs: number;
  readonly #attachments: Attachments;
  readonly #plugins: Plugins;
  readonly #networks: Networks;
  readonly #bridges: Bridges;
  readonly #openings = new Openings();
  readonly #host: HostFilter;
  readonly #rules: TaskNamespaceRules;
  readonly #unmounting: Together;
  readonly #tidying: TidyOptions;
  readonly #lost: Lost;
  readonly #fallback = new Fallback();
  /** What the resolver answers. */
  readonly names: ResolvedNames;
  constructor(options: TaskNetworksOptions) {
    const { directory, key, cniPath = CNI_PATH, timeoutMs = TIMEOUT_MS } = options;
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#attachments = new Attachments(join(directory, "attachments"));
    this.#plugins = new Plugins(cniPath, timeoutMs);
    this.#networks = new Networks({ directory: join(directory, "networks"), key, timeoutMs });
    const { filter, bootId, helper } = options;
    const attachments = this.#attachments;
    this.#host = new HostFilter({ ...filter, key, prefix: this.#networks.prefix, timeoutMs, attachments, bootId, helper });
    this.#bridges = new Bridges(attachments, timeoutMs, (name) => this.#host.filter.unguard(name));
    this.#rules = new TaskNamespaceRules({ kind: () => this.#host.filter.kind(), timeoutMs, onWarning: filter.onWarning });
    this.#unmounting = new Together((paths) => unmountNamespaces(paths, timeoutMs));
    const { namespaces } = options;
    this.#tidying = { namespaces, leases: this.#leases, prefix: this.#networks.prefix, unmounting: this.#unmounting, timeoutMs };
    this.names = new ResolvedNames({ directory: join(directory, "resolver"), timeoutMs, ...options.resolver }, this.#attachments);
    this.#lost = new Lost({ tidying: this.#tidying, networks: this.#networks, bridges: this.#bridges, filter: this.#host.filter });
  }

  /** Ports of the host that belong to services. */
  get servicePorts(): ServicePorts {
    return this.#host.servicePorts;
  }

  /** Where the containers of a task find its network. */
  placement(id: string): NetworkPlacement {
    // An existing namespace stays at its path, even if the engine was restarted with another directory.
    const path = this.#attachments.read(id)?.namespace || join(this.#options.namespaces, id);
    return { path, files: join(this.#options.directory, "files", id) };
  }

  /**
   * Makes the network of a task, or finds it if it exists. What is left of an incomplete attempt is removed first, but for a namespace that a process may have joined.
   * @throws NetworkError
   */
  async provision(id: string, group: string, spec: TaskSpec, asked: Provision): Promise<Provided> {
    const results = (await this.#found(id, asked.isEarly)) ?? (await this.#makeOrFallBack(id, group, spec, asked));
    const addresses = addressesOf(results);
    await this.names.ready(id);
    const { resolves = false, lacks } = this.#attachments.read(id) ?? {};
    writeFiles(this.placement(id).files, spec, { addresses, gateway: gatewayOf(results) }, resolves);
    return { addresses, ...(lacks === undefined ? {} : { lacks }) };
  }

  /** What this host lacks to give tasks a bridge, as far as its files say; undefined: nothing. */
  get lacks(): string | undefined {
    return lackIn(this.#plugins, this.#options.filter.choice);
  }

  async #makeOrFallBack(
    id: string,
    group: string,
    spec: TaskSpec,
    { users, isEarly, asks, lacks }: Provision,
  ): Promise<readonly CniResult[]> {
    const open = isEarly ? () => this.#openings.open(id) : () => {};
    const plan = () => this.#planOf(group, spec, asks && this.names.isFor(spec));
    return this.#fallback.make({
      hasFallback: spec.network?.fallback !== undefined,
      lacks: lacks ?? this.lacks,
      open,
      make: async (whenJoinable) => this.#make(id, await plan(), { users, open: whenJoinable }),
      fallBack: (why) => this.#make(id, LOOPBACK_PLAN, { users, open, lacks: why }),
    });
  }

  /** `make` calls `provision`: `joinable` waits for that, or for what else `make` ends with. @throws what `make` throws */
  during<T>(id: string, make: () => Promise<T>): Promise<T> {
    return this.#openings.during(id, make);
  }

  /** Resolves when a process can join the network's namespace: `during` was called, or will be. @throws what `make` of `during` throws */
  joinable(id: string): Promise<void> {
    return this.#openings.wait(id);
  }

  /** Removes the network. Succeeds if it does not exist. @throws NetworkError: something is left; the call may be repeated */
  async release(id: string): Promise<void> {
    const isLost = !this.#attachments.read(id)?.namespace;
    await this.#release(id);
    if (isLost) await this.#lost.sweep(id);
  }

  async #release(id: string): Promise<void> {
    const { path, files } = this.placement(id);
    const attachment = this.#attachments.read(id);
    // Plugins do not need the bridge, which takes the kernel longer than an interface of it.
    if (attachment !== undefined) await this.#host.guards.leave(attachment);
    const results = await Promise.allSettled(attachment === undefined ? [] : [this.#detach(attachment), this.#bridges.leave(attachment)]);
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      this.#bridges.left(id);
      throw result.reason;
    }
    await unpinNamespace(path, this.#unmounting);
    this.#rules.forget(path);
    removeFiles(files);
    this.#attachments.remove(id);
    this.#bridges.left(id);
    this.#host.guards.left(id);
    this.#openings.forget(id);
    if (attachment !== undefined) await this.names.leave(attachment);
  }

  /** Writes other tasks of the network to the task's hosts file, which running containers see at once. @throws the errors of the system calls */
  writePeers(id: string, spec: TaskSpec, addresses: readonly string[], peers: readonly Named[]): void {
    const gateway = gatewayOf(this.#attachments.read(id)?.results ?? []);
    writeHosts(this.placement(id).files, spec, { addresses, gateway }, peers);
  }

  /** Sets the routes through other tasks. `routing`: input of `ip -batch`. @throws NetworkError */
  async route(id: string, routing: string): Promise<void> {
    await addRouting(this.placement(id).path, routing, Math.min(INSIDE_MS, this.#timeoutMs));
  }

  /** Sets how the task reaches services. `flows`: of UDP, to the ports that have changed. @throws NetworkError; PauseNotFoundError */
  async serve(
    id: string,
    { network }: Pick<TaskSpec, "network">,
    services: readonly ReachedService[],
    flows: readonly FlowsTo[],
  ): Promise<void> {
    const namespace = this.placement(id).path;
    await this.#rules.serve(namespace, services, network && taskRules(network));
    const timeoutMs = Math.min(INSIDE_MS, this.#timeoutMs);
    for (const one of flows) await endFlows(one, { helper: this.#options.helper(), namespace, timeoutMs });
  }

  /** Counts connections of TCP to these ports of the task. @throws NetworkError */
  connections(id: string, ports: ReadonlySet<number>): Promise<number> {
    return this.#counted(id, (path) => connectionsTo(path, ports, this.#timeoutMs));
  }

  /** Counts connections of TCP to these ports that the program of the task has not accepted yet. @throws NetworkError */
  unaccepted(id: string, ports: ReadonlySet<number>): Promise<number> {
    return this.#counted(id, (path) => unacceptedBy(path, ports, this.#timeoutMs));
  }

  /** A namespace that is gone has no connections. */
  async #counted(id: string, count: (path: string) => Promise<number>): Promise<number> {
    const { path } = this.placement(id);
    try {
      return await count(path);
    } catch (error) {
      if (isPinned(path)) throw error;
      return 0;
    }
  }

  /** @throws NetworkError: the network is not as it was made */
  async check(id: string): Promise<void> {
    const attachment = this.#attachments.read(id);
    if (attachment?.results == null) throw new NetworkError("program-failed", "nothing is known of its network");
    if (!isPinned(attachment.namespace)) throw new NetworkError("program-failed", `no namespace is bound to ${attachment.namespace}`);
    for (const [index, step] of attachment.steps.entries()) await check(this.#plugins, step, attachment.results[index]!, attachment);
    await this.#host.check(attachment);
  }

  /** Rules of the host that another program may remove or change. */
  get hostFilter(): Pick<HostFilter, "mend" | "watch"> {
    return this.#host;
  }

  /**
   * Removes everything on the host that belongs to no known task. No network may be made during the call. Returns what could not be removed.
   * @param isKnown whether the task with this id has a network, or may have one
   */
  async tidy(isKnown: (id: string) => boolean): Promise<readonly unknown[]> {
    // The engine has never made a network.
    if (!existsSync(this.#options.directory)) return [];
    const options = this.#tidying;
    const unleased = () => this.#lost.unleased();
    const hasNetworks = this.#networks.written().length > 0;
    const errors: unknown[] = [];
    for (const id of this.#attachments.ids().filter((one) => !isKnown(one))) await this.release(id).catch((error) => errors.push(error));
    // Names and leases are kept for tasks whose network could not be removed.
    const isKept = (id: string) => isKnown(id) || this.#attachments.ids().includes(id);
    const steps = [
      () => tidyNamespaces(options, isKept),
      async () => tidyLeases(options, isKept),
      // Without a bridge there are no rules, so that no packet filter need be installed.
      async () => (hasNetworks ? this.#host.begin({ isKnown: isKept, unleased: unleased() }) : undefined),
      async () => tidyBridges(this.#bridges.unused(unleased()), this.#timeoutMs),
      () => this.names.tidy(),
    ];
    for (const step of steps) await step().catch((error) => errors.push(error));
    return errors;
  }

  get #leases(): string {
    return join(this.#options.directory, "leases");
  }

  async #planOf(group: string, spec: TaskSpec, resolves: boolean): Promise<NetworkPlan> {
    const isBridged = spec.network!.mode !== "none";
    // A task without interfaces needs no subnet, and none of the programs that choose one.
    const bridged = isBridged ? await this.#networkOf(group, spec.network!) : { name: this.#networks.prefix, bridge: "", subnet: "" };
    const further: BridgeNetwork[] = [];
    for (const one of spec.network!.further ?? []) further.push(await this.#networkOf(group, one));
    return networkPlan(spec, { bridged, further, leases: this.#leases, resolves });
  }

  #networkOf(group: string, said: Said): Promise<BridgeNetwork> {
    return this.#networks.get(networkName(group, said), said, (bridge) => this.#bridges.unused([bridge]).length === 0);
  }

  /** undefined: the network must be made. `keeps`: in its namespace, if that is there. */
  async #found(id: string, keeps: boolean): Promise<readonly CniResult[] | undefined> {
    const attachment = this.#attachments.read(id);
    const isOfThisBoot = attachment?.bootId === this.#options.bootId;
    if (attachment?.results && isOfThisBoot) {
      try {
        await this.check(id);
        return attachment.results;
      } catch {
        // The network is made again.
      }
    }
    if (attachment !== undefined && isOfThisBoot && keeps && isPinned(attachment.namespace)) await this.#detach(attachment);
    // There is no record before the first attempt.
    else await (attachment === undefined ? this.#release(id) : this.release(id));
    return undefined;
  }

  async #make(
    id: string,
    { steps, ports, blocked, resolver, rules, routing }: NetworkPlan,
    { users, open, lacks }: Making,
  ): Promise<readonly CniResult[]> {
    // Missing plugins are reported before there is anything to undo.
    for (const step of steps) await this.#plugins.version(step.plugins);
    for (const port of ports) await checkPort(port);
    for (const parent of parentsOf(steps)) await checkInterface(parent, this.#timeoutMs);
    const namespace = this.placement(id).path;
    const attachment: Attachment = {
      containerId: id,
      bootId: this.#options.bootId,
      namespace,
      steps,
      results: null,
      reachesMetadata: blocked.length === 0,
      resolves: resolver !== undefined,
      ...(lacks === undefined ? {} : { lacks }),
    };
    await this.#bridges.reserve(() => this.#attachments.write(attachment));
    try {
      const made = { path: namespace, blocked, resolver: await this.#rules.resolver(resolver), users };
      if (await makeNamespace(made, this.#timeoutMs)) this.#rules.isNew(namespace);
      // Before anything of the task can send by the bridge.
      await this.#host.guards.guard(steps);
      open();
      const results: CniResult[] = [];
      for (const step of steps) results.push(await this.#add(attachment, step));
      const filtered = await this.#host.open(id, steps, results);
      await this.#rules.write(namespace, rules);
      if (routing !== "") await addRouting(namespace, routing, this.#timeoutMs);
      this.#attachments.write({ ...attachment, results, ...filtered });
      // The address from which the metadata may be reached is known now.
      await this.#host.guards.guard(steps);
      return results;
    } catch (error) {
      // Each step that was started gets a DEL, the last one first. What cannot be undone now is removed together with the task.
      const left = await this.release(id).catch((failure: Error) => failure);
      throw left instanceof Error ? merged("the network could not be made, and what was made could not be removed", [error, left]) : error;
    }
  }

  async #add(attachment: Attachment, step: NetworkStep): Promise<CniResult> {
    const result = await add(this.#plugins, step, attachment);
    for (const { address } of step.needsAddress ? (result.ips ?? []) : []) {
      const other = this.#attachments.holderOf(step.name, address, attachment.containerId);
      if (other === undefined) continue;
      const type = step.plugins[0]!.type;
      throw new NetworkError("plugin-answer", `the network plugin ${type} has returned an invalid result: ${address} belongs to ${other}`);
    }
    return result;
  }

  async #detach(attachment: Attachment): Promise<void> {
    const { containerId, steps, results } = attachment;
    const isThere = isPinned(attachment.namespace);
    const errors: unknown[] = [];
    const isOwn = ({ network, id }: RuleOwner) => id === containerId && steps.some(({ name }) => name === network);
    // The rules go first: with the lease a plugin gives back the address that they lead to.
    await this.#host.filter.close(attachment).catch((error) => errors.push(error));
    const from = { containerId, namespace: isThere ? attachment.namespace : "" };
    for (const [index, step] of [...steps.entries()].reverse()) {
      // An earlier version made loopback by a plugin. It goes with the namespace.
      if (step.interface === "lo") continue;
      await remove(this.#plugins, step, results?.[index], from).catch((error) => errors.push(error));
    }
    // Plugins find their rules by the addresses in the namespace.
    if (!isThere && steps.some(({ plugins }) => plugins.some(leavesRules))) await sweepRules(isOwn, this.#timeoutMs);
    if (errors.length > 0) throw merged("the network was not removed completely", errors);
  }
}
