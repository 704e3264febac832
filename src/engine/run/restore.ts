/** The steps after a start that lead from the store to managed tasks. The end of each step is reported. */
import type { Fence } from "../../executor/index.ts";
import type { Images } from "../images/index.ts";
import type { TaskRecord } from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import type { SecretFiles } from "../secrets/index.ts";
import type { TaskUsers } from "../users/index.ts";
import { systemClock } from "./clock.ts";
import type { Conditions } from "./conditions.ts";
import type { KeptVolumes } from "./containers/kept-volumes.ts";
import type { MetadataFiles } from "./containers/metadata.ts";
import { addAdopted, adoptionOf, type OrphanPolicy, type Orphans, orphansAmong, stopAdopted } from "./containers/orphans.ts";
import type { ContainerRuntime } from "./containers/runtime.ts";
import type { SpecCopies } from "./containers/spec-copies.ts";
import type { Strays } from "./containers/strays.ts";
import type { Edits } from "./desired/edits.ts";
import type { EngineLog } from "./log.ts";
import type { Interfaces } from "./network/interfaces.ts";
import { tidyNetworks } from "./network/networks.ts";
import type { Pulling } from "./pulling.ts";
import { idsOf, type Recovered, recover } from "./recovery.ts";
import type { Turns } from "./turn.ts";

export interface RestoreOptions {
  readonly turns: Turns;
  readonly edits: Edits;
  readonly runtime: ContainerRuntime;
  readonly fence: Fence | undefined;
  readonly metadata: MetadataFiles;
  readonly specCopies: SpecCopies;
  readonly orphans: Orphans;
  readonly strays: Strays;
  readonly orphanPolicy: OrphanPolicy;
  readonly networks: TaskNetworks;
  readonly taskUsers: TaskUsers;
  readonly interfaces: Interfaces;
  readonly keptVolumes: KeptVolumes;
  readonly images: Images;
  readonly secrets: SecretFiles;
  readonly pulling: Pulling;
  /** Describes capacity that admitted tasks have and the host lacks now; empty: none. */
  readonly overcommitted: () => string;
  readonly conditions: Conditions;
  readonly log: EngineLog;
}

/** Runs the steps in this order. Steps for resources beside containers must come before `containers`. */
export async function restore(options: RestoreOptions): Promise<void> {
  const { log, edits, turns, overcommitted, runtime } = options;
  const told = (step: string, facts: Readonly<Record<string, unknown>> = {}) => log("info", "restored", { step, ...facts });
  told("fence", await enterFence(options));
  await runtime.secure();
  // Admitted tasks keep their share of the capacity, whatever is found of their containers.
  told("ledger", { overcommitted: overcommitted() });
  const stored = [...turns.records.values()];
  const { adopted, unknown } = await takeOrphans(stored, options);
  told("orphans", { adopted: adopted.length, left: options.orphans.ids.length });
  const present = new Set([...stored, ...adopted].flatMap(idsOf).concat(unknown));
  const strays = await options.images.sweep(present);
  for (const error of await options.secrets.sweep(present)) log("error", "secrets-left", { message: String(error) });
  if (strays.length > 0) log("info", "roots-removed", { ids: strays.join(", ") });
  const left = await tidyNetworks(options.networks, stored, unknown);
  for (const error of left) log("error", "network-left", { message: String(error) });
  const isKnown = (id: string) => stored.some((one) => one.id === id) || unknown.some((one) => one.startsWith(`${id}.`));
  for (const error of options.taskUsers.tidy(isKnown)) log("error", "users-left", { message: String(error) });
  options.keptVolumes.sweep().catch((error) => log("error", "volumes-left", { message: String(error) }));
  told("networks", { left: left.length });
  const found = await recover([...stored, ...adopted], runtime, systemClock.now());
  tellFailures(found, options);
  told("containers", { running: found.running.length, failures: found.failures.length, execs: found.execs });
  await goOn(found, adopted, options);
  told("tasks", { tasks: turns.records.size });
  // A container that has ended since it was examined is reported at once, because the executor's record already has its end.
  for (const id of found.running) runtime.follow(id);
  told("ends", { followed: found.running.length });
  tellContainers(options);
  told("metadata");
  log("info", "restore-complete", { epoch: edits.facts.epoch, tasks: turns.records.size, running: found.running.length });
}

/** Ends what the earlier daemon started and left running, and moves this process into the cgroup where its successor will look. */
async function enterFence({ fence, edits }: RestoreOptions) {
  const ended = (await fence?.clear()) ?? 0;
  fence?.enter(String(edits.facts.epoch));
  return { ended };
}

interface Taken {
  /** Records of adopted tasks, which are not stored yet. */
  readonly adopted: readonly TaskRecord[];
  /** Runtime ids of all containers that the store does not know. */
  readonly unknown: readonly string[];
}

async function takeOrphans(stored: readonly TaskRecord[], options: RestoreOptions): Promise<Taken> {
  const { runtime, edits, specCopies, orphans, orphanPolicy, conditions } = options;
  const unknown = orphansAmong(await runtime.present(new Set(stored.flatMap(idsOf))), new Set());
  const { records, strays, revision } = adoptionOf(unknown, stored, { policy: orphanPolicy, specCopies, at: systemClock.now() });
  // Tasks that the store has lost have used these revisions; they must not be given out again.
  edits.revisionIsAtLeast(revision);
  const known = new Set([...records.flatMap(idsOf), ...strays.map(({ id }) => id)]);
  orphans.keep(unknown.flatMap(({ id }) => (known.has(id) ? [] : id)));
  conditions.set("Orphans", orphans.ids.join(", "));
  void options.strays.stop(strays);
  return { adopted: records, unknown: unknown.map(({ id }) => id) };
}

function tellFailures({ failures }: Recovered, { conditions, log }: RestoreOptions): void {
  for (const { id, error } of failures) log("error", "not-looked-up", { id, message: String(error) });
  conditions.set("NotLookedUp", failures.map(({ id }) => id).join(", "));
}

/** Records all observations in one transaction. The actions that follow from them start after it. */
async function goOn({ happenings }: Recovered, adopted: readonly TaskRecord[], options: RestoreOptions): Promise<void> {
  const { turns, edits, orphanPolicy, log } = options;
  // On a full disk this is recorded later, like a stop: what runs can be seen and stopped.
  const opened = turns.edit(
    (draft) => {
      addAdopted(draft, adopted);
      return edits.facts;
    },
    { isStop: true },
  );
  for (const [task, happening] of happenings) turns.post(task, happening);
  if (orphanPolicy === "stop" && adopted.length > 0) {
    const stopped = turns.edit((draft) => {
      stopAdopted(draft, adopted);
      return undefined;
    });
    // The engine reports that the store cannot be written; the next daemon finds these containers again.
    stopped.catch(() => {});
  }
  for (const { id } of adopted) log("info", orphanPolicy === "stop" ? "orphan-stopped" : "orphan-adopted", { task: id });
  options.interfaces.load();
  turns.onCommit(() => options.pulling.cancelUnwanted(turns.records));
  turns.release();
  await opened;
}

/** Writes the metadata files again: a daemon that was killed right after a start may not have updated them. */
function tellContainers({ turns, metadata }: RestoreOptions): void {
  for (const record of turns.records.values()) {
    for (const { name, generation, runtimeId, known, startedAt } of record.containers) {
      if (known === "RUNNING" && startedAt !== null) metadata.ready(record, { container: name, generation, runtimeId }, startedAt.wallMs);
    }
  }
}
