/** Connects the engine to the networks of its tasks. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { cgroupVersion, hierarchies, occupantsOf, placesOf } from "../../../executor/index.ts";
import { isSlice, makeTaskCgroup, removeTaskCgroup } from "../../cgroup/index.ts";
import { NETWORK, type TaskRecord } from "../../model/index.ts";
import { type Known, type ResolverCgroup, TaskNetworks, withoutPrefix } from "../../network/index.ts";
import { locatePause } from "../../pause/index.ts";
import { limitWrites } from "../../plan/index.ts";
import { bootId, Repeating } from "../clock.ts";
import type { Conditions } from "../conditions.ts";
import type { EngineLog } from "../log.ts";
import { Paths } from "../paths.ts";
import type { EngineSettings } from "../settings.ts";
import { Prompt } from "./prompt.ts";

/** @param settings their state directory must exist @param binary path of the runt executable, beside which runt-pause may be */
export function networksOf(settings: EngineSettings, binary: string, log: EngineLog): TaskNetworks {
  const { stateDir, namespaceDir, cgroupParent, cniPath, resolver, packetFilter: choice = "auto", networkTimeoutMs } = settings;
  const directory = new Paths(stateDir).network;
  return new TaskNetworks({
    directory,
    namespaces: namespaceDir ?? join(directory, "namespaces"),
    key: shortKey(stateDir),
    bootId: bootId(),
    cniPath,
    resolver: { program: resolver, cgroup: resolverCgroup(ownCgroup("resolver", cgroupParent, stateDir)) },
    filter: {
      choice,
      identity: stateKey(stateDir),
      onChosen: (driver, because) => log("info", "packet-filter", { driver, ...(because === undefined ? {} : { because }) }),
      onWarning: (message) => log("error", "packet-filter-warning", { message }),
    },
    timeoutMs: networkTimeoutMs,
    helper: () => locatePause(binary),
  });
}

/** A cgroup of the engine's own that no task has. */
export function ownCgroup(name: string, parent: string, stateDir: string): string {
  return `${isSlice(parent) ? "" : parent}/${name}-${shortKey(stateDir)}`;
}

/** What tasks ask the resolver may cost it memory and connections. */
const RESOLVER_LIMITS = { cpu: { shares: 1024 }, memory: { limit: 256 << 20 }, pids: { limit: 512 } };

function resolverCgroup(path: string): ResolverCgroup {
  return {
    make() {
      // The kernel takes its time for each hierarchy of v1: it is put only into those that bound it, and into the one in which the engine is ended.
      const isNeeded = (name: string) => ["memory", "pids", "freezer"].includes(name);
      const found = hierarchies().filter(({ version, controllers }) => version === 2 || controllers.some(isNeeded));
      makeTaskCgroup(path, limitWrites(RESOLVER_LIMITS, cgroupVersion(found)), found);
      return placesOf(path, found).map(({ directory }) => directory);
    },
    processes: () => occupantsOf(placesOf(path)),
    remove: () => removeTaskCgroup(path),
  };
}

/** Checks that the networks of tasks are as they were made. Returns a problem by task id. */
async function checkNetworks(networks: TaskNetworks, records: Iterable<TaskRecord>): Promise<ReadonlyMap<string, string>> {
  const broken = new Map<string, string>();
  for (const { id, resources } of [...records]) {
    const isThere = () => resources.some(({ name, known, applied }) => name === NETWORK && known === "CREATED" && applied === null);
    if (!isThere()) continue;
    await networks.check(id).catch((error: Error) => broken.set(id, error.message));
  }
  return broken;
}

/** Finds the task that has an address. No task name contains a dot or a colon, so that names and addresses cannot be mistaken. */
export function taskAt(records: readonly TaskRecord[], address: string): TaskRecord | undefined {
  return records.find(({ network }) => network?.addresses.some((one) => withoutPrefix(one) === address));
}

/** Part of names on the host that no other engine gives. */
export function shortKey(stateDir: string): string {
  return createHash("sha256").update(stateKey(stateDir)).digest("hex").slice(0, 8);
}

/** A key that no other state directory of this host has. */
export function stateKey(stateDir: string): string {
  const { dev, ino } = statSync(stateDir, { bigint: true });
  return `${dev}-${ino}`;
}

/** Checks the networks of tasks at intervals. Damage by other programs is reported as a condition of the host. */
const INTERVAL_MS = 60_000;
/** How soon a resolver that has ended is started again. */
const RESOLVER_MS = 1_000;
/** How soon rules of the packet filter are written again, also if nothing has told that they are gone. */
const FILTER_MS = 1_500;
/** The kernel tells when another program changes the table of nftables. One that does so all the time has it written again no more often than without being told. */
const PROMPT = { leastMs: 50, mostMs: FILTER_MS, quietMs: 5_000 };
/** How long it is told that they were. */
const TOLD_MS = 5 * 60_000;

interface NetworkWatchOptions {
  readonly networks: TaskNetworks;
  /** What the resolver is to answer. */
  readonly known: () => Known;
  readonly conditions: Conditions;
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly log: EngineLog;
  /** Tells readers of the journal that rules of the packet filter had to be written again. @throws StoreError not-written */
  readonly tell: (message: string) => Promise<void>;
  readonly intervalMs: number | undefined;
}

export class NetworkWatch {
  readonly #options: NetworkWatchOptions;
  readonly #repeating: readonly Repeating[];
  readonly #prompt: Prompt;
  readonly #unwatch: () => void;
  /** Until when the last mending is a condition of the host, of performance.now(). */
  #toldUntil = 0;

  constructor(options: NetworkWatchOptions) {
    this.#options = options;
    this.#repeating = [
      new Repeating(options.intervalMs ?? INTERVAL_MS, () => this.#look()),
      new Repeating(RESOLVER_MS, () => this.#lookAtNames()),
      new Repeating(FILTER_MS, () => this.#lookAtFilter()),
    ];
    this.#prompt = new Prompt(PROMPT, () => this.#lookAtFilter());
    this.#unwatch = options.networks.hostFilter.watch(() => this.#prompt.ask());
  }

  stop(): void {
    for (const one of [...this.#repeating, this.#prompt]) one.stop();
    this.#unwatch();
  }

  async #lookAtFilter(): Promise<void> {
    const { networks, log, conditions, tell } = this.#options;
    try {
      const message = await networks.hostFilter.mend();
      if (message === undefined) {
        if (performance.now() > this.#toldUntil) conditions.set("PacketFilterChanged", "");
        return;
      }
      this.#toldUntil = performance.now() + TOLD_MS;
      conditions.set("PacketFilterChanged", `${message}; they were written again at ${new Date().toISOString()}`);
      log("error", "packet-filter-mended", { message });
      await tell(message);
    } catch (error) {
      conditions.set("PacketFilterChanged", `rules of the packet filter could not be written again: ${(error as Error).message}`);
      log("error", "packet-filter-not-mended", { message: String(error) });
    }
  }

  async #lookAtNames(): Promise<void> {
    const { networks, conditions, known } = this.#options;
    await networks.names.look(known());
    conditions.set("NoResolver", networks.names.problem);
  }

  async #look(): Promise<void> {
    const { networks, conditions, records } = this.#options;
    const broken = await checkNetworks(networks, records.values());
    // A network that was removed during the check is not damaged.
    const lasting = [...broken].filter(([id]) => records.get(id)?.network);
    conditions.set("NetworkBroken", lasting.map(([id, message]) => `${id}: ${message}`).join("; "));
  }
}
