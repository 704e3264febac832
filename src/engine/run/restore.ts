/** The steps after a start that lead from the store to managed tasks. The end of each step is reported. */
import type { TaskRecord } from "../model/index.ts";
import { systemClock } from "./clock.ts";
import { addAdopted, adoptionOf, orphansAmong, stopAdopted } from "./containers/orphans.ts";
import type { EngineParts } from "./parts.ts";
import { idsOf, type Recovered, recover } from "./recovery.ts";
import type { Known } from "./resources/resource.ts";

export interface RestoreOptions extends EngineParts {
  /** Describes capacity that admitted tasks have and the host lacks now; empty: none. */
  readonly overcommitted: () => string;
}

/** Runs the steps in this order. The resources of tasks come before their containers. */
export async function restore(options: RestoreOptions): Promise<void> {
  const { log, edits, records, overcommitted, runtime, ends } = options;
  const told = (step: string, facts: Readonly<Record<string, unknown>> = {}) => log("info", "restored", { step, ...facts });
  told("fence", await enterFence(options));
  await runtime.secure();
  // Admitted tasks keep their share of the capacity, whatever is found of their containers.
  told("ledger", { overcommitted: overcommitted() });
  const stored = [...records.values()];
  const { adopted, unknown } = await takeOrphans(stored, options);
  told("orphans", { adopted: adopted.length, left: options.orphans.ids.length });
  const containers = new Set([...stored, ...adopted].flatMap(idsOf).concat(unknown));
  told("resources", { left: await sweepResources({ records: stored, containers, unknown }, options) });
  const found = await recover([...stored, ...adopted], runtime, systemClock.now());
  tellFailures(found, options);
  told("containers", { running: found.running.length, failures: found.failures.length, execs: found.execs });
  await goOn(found, adopted, options);
  told("tasks", { tasks: records.size });
  // A container that has ended since it was examined is reported at once, because the executor's record already has its end.
  for (const id of found.running) ends.follow(id);
  told("ends", { followed: found.running.length });
  tellStarts(options);
  told("metadata");
  log("info", "restore-complete", { epoch: edits.facts.epoch, tasks: records.size, running: found.running.length });
}

/** Ends what the earlier daemon started and left running, and moves this process into the cgroup where its successor will look. */
async function enterFence({ fence, edits }: RestoreOptions) {
  const ended = (await fence?.clear()) ?? 0;
  fence?.enter(String(edits.facts.epoch));
  return { ended };
}

/** Returns how many things could not be removed. */
async function sweepResources(known: Known, { resources, log }: RestoreOptions): Promise<number> {
  let count = 0;
  for (const resource of resources.toReversed()) {
    const left = (await resource.sweep?.(known)) ?? [];
    for (const error of left) log("error", `${resource.name}-left`, { message: String(error) });
    count += left.length;
  }
  return count;
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
  const { turns, mailbox, edits, orphanPolicy, log } = options;
  // On a full disk this is recorded later, like a stop: what runs can be seen and stopped.
  const opened = mailbox.edit(
    (draft) => {
      addAdopted(draft, adopted);
      draft.facts = { ...draft.facts, revision: edits.revision };
    },
    { isStop: true },
  );
  for (const [task, happening] of happenings) mailbox.post(task, happening);
  if (orphanPolicy === "stop" && adopted.length > 0) {
    const stopped = mailbox.edit((draft) => {
      stopAdopted(draft, adopted);
    });
    // The engine reports that the store cannot be written; the next daemon finds these containers again.
    stopped.catch(() => {});
  }
  for (const { id } of adopted) log("info", orphanPolicy === "stop" ? "orphan-stopped" : "orphan-adopted", { task: id });
  for (const resource of options.resources) resource.restored?.();
  turns.release();
  await opened;
}

/** A daemon that was killed right after a start may not have told the resources of it. */
function tellStarts({ records, resources }: RestoreOptions): void {
  for (const record of records.values()) {
    for (const { name, generation, runtimeId, known, startedAt } of record.containers) {
      if (known !== "RUNNING" || startedAt === null) continue;
      for (const resource of resources) resource.started?.(record, { container: name, generation, runtimeId }, startedAt.wallMs);
    }
  }
}
