/** Builds the parts of an engine from its settings and its store, without starting anything. Each part gets those that stand above it. */

import { existsSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { Fence, type KnownCgroup } from "../../executor/index.ts";
import { checkSystemd, limitedPages, parentSlice, removeTaskCgroup } from "../cgroup/index.ts";
import { Builder, type BuildPlace, ImageStore, type Images } from "../images/index.ts";
import {
  DEFAULT_OPTIONS,
  DEFAULT_QUEUE,
  DEFAULT_USERS,
  type HostCapacity,
  revisionKey,
  type TaskRecord,
  taskIdOf,
  unprovenTasks,
} from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import { PauseRoot } from "../pause/index.ts";
import { type HostSupport, isInMachine } from "../plan/index.ts";
import { taskSchema } from "../spec/index.ts";
import type { Contents, Store } from "../store/index.ts";
import { TaskUsers } from "../users/index.ts";
import { AutoUpdate } from "./auto-update.ts";
import { CarryingOut } from "./carrying-out.ts";
import { Checking } from "./checking.ts";
import { bootId, systemClock } from "./clock.ts";
import { Conditions } from "./conditions.ts";
import { Agents } from "./containers/agents.ts";
import { ContainerEnds } from "./containers/ends.ts";
import { GuestReports } from "./containers/guest-reports.ts";
import { Launching, makerOf } from "./containers/launching.ts";
import { Orphans, Strays } from "./containers/orphans.ts";
import { ContainerRuntime } from "./containers/runtime.ts";
import { type HostFacts, hostFactsIn, poolsIn, revisionsIn, servicesIn, succeededIn, succeededKey, tasksIn } from "./desired/codec.ts";
import { Edits } from "./desired/edits.ts";
import { Effects } from "./effects.ts";
import { ImageCare, imagesOf, imagesOfRevisions } from "./image-care.ts";
import { Forwarding } from "./logs/forwarding.ts";
import { Mailbox } from "./mailbox.ts";
import { NetworkNames, NetworkRoutes } from "./network/names.ts";
import { NetworkWatch, networksOf, ownCgroup, shortKey, stateKey } from "./network/networks.ts";
import { Paths } from "./paths.ts";
import { Poll } from "./poll.ts";
import { Pools } from "./pools/pools.ts";
import { FreshImages, Pulling } from "./pulling.ts";
import { ContainerLogs } from "./resources/container-logs.ts";
import { Devices } from "./resources/devices.ts";
import { EndMessages } from "./resources/end-messages.ts";
import { ImageRoots } from "./resources/image-roots.ts";
import { Interfaces } from "./resources/interfaces.ts";
import { JoinedNamespaces } from "./resources/joined-namespaces.ts";
import { directoriesIn, KeptVolumes } from "./resources/kept-volumes.ts";
import { LogRouters } from "./resources/log-routers.ts";
import { MetadataFiles } from "./resources/metadata.ts";
import { NameServers } from "./resources/name-servers.ts";
import { OwnNetwork } from "./resources/network.ts";
import type { TaskResource } from "./resources/resource.ts";
import { ContainerSecrets } from "./resources/secrets.ts";
import { SharedProxies } from "./resources/shared-proxies.ts";
import { SpecCopies } from "./resources/spec-copies.ts";
import { TaskCgroups } from "./resources/task-cgroup.ts";
import { PrivateUsers } from "./resources/users.ts";
import { TaskVolumes } from "./resources/volumes.ts";
import { ReturnedTags } from "./returned-tags.ts";
import { Rollouts } from "./rollouts.ts";
import { Schedules } from "./schedules.ts";
import { ServiceRollouts } from "./service-rollouts.ts";
import type { EngineSettings } from "./settings.ts";
import { Turns } from "./turn.ts";
import { VolumeWatch } from "./volume-watch.ts";
import { WatchedFiles } from "./watched-files.ts";

const LAUNCH_TIMEOUT_MS = 120_000;
const POLL_MS = 2 * 60_000;

export type EngineParts = ReturnType<typeof partsOf>;

/** `store`: the open store of the settings' state directory, and what is in it. @throws ExecutorError runtime-not-found, runtime-version */
export function partsOf(settings: EngineSettings, store: Store, { records: rows, damaged }: Contents) {
  const { stateDir, cgroupManager = "cgroupfs", taskLimits = true, userIds = DEFAULT_USERS, probe, log = () => {} } = settings;
  const { pullPolicy = "default", cleanUp = {}, buildTimeoutMs: timeoutMs, ...ofImages } = settings.images ?? {};
  if (cgroupManager === "systemd") checkSystemd();
  const cgroupParent = cgroupManager === "systemd" ? parentSlice(settings.cgroupParent) : settings.cgroupParent;
  const runtimes = settings.runtimes ?? {};
  const support: HostSupport = {
    hasTaskLimits: taskLimits,
    runtimes,
    hugepages: limitedPages(),
    credentials: Object.keys(ofImages.credentials ?? {}),
    cgroup: cgroupManager === "systemd" ? undefined : cgroupParent,
    get networks() {
      return networks;
    },
  };
  const capacity = capacityOf(settings.capacity);
  const paths = new Paths(stateDir, settings.namespaceDir === undefined ? undefined : dirname(settings.namespaceDir));
  const conditions = new Conditions(log);
  conditions.set("RecordsDamaged", damaged.map(({ kind, key }) => `${kind} ${key}`).join(", "));

  // What is known, and what is asked for.
  const records = new Map(tasksIn(rows, store.path).map((record) => [record.id, record]));
  const succeeded = new Map(succeededIn(rows).map((one) => [succeededKey(one), one]));
  const [services, revisions] = [servicesIn(rows), revisionsIn(rows)];
  const poolRecords = poolsIn(rows);
  const mailbox = new Mailbox();
  const facts: Partial<HostFacts> = hostFactsIn(rows) ?? {};
  const hasVolumes = (group: string) => directoriesIn(paths.keptOf(group)).length > 0;
  const isKept = (group: string, name: string) => existsSync(paths.kept(group, name));
  const edits = new Edits(
    mailbox,
    { capacity, users: userIds, cgroupParent: settings.cgroupParent, cgroupManager, hasVolumes, isKept, hasTaskLimits: taskLimits },
    { revision: 0, ...facts, epoch: (facts.epoch ?? 0) + 1, bootId: bootId() },
  );

  // What is on the host.
  const fence = settings.isOwnProcess
    ? new Fence({
        ...{ cgroupParent: settings.cgroupParent, key: stateKey(stateDir), stateDir: paths.executors },
        others: () => directoriesIn(paths.pools).map((id) => join(paths.pool(id), "boxes")),
      })
    : undefined;
  const runtime = new ContainerRuntime({
    stateDir: paths.executors,
    memoryDir: paths.executorsInMemory,
    binary: settings.runtime,
    makerOf: (id) => makerOf(records, runtimes, id),
    launchTimeoutMs: settings.launchTimeoutMs ?? LAUNCH_TIMEOUT_MS,
    cgroupOf: (id) => cgroupOf(records.get(taskIdOf(id)), cgroupParent),
    ...{ fence, log },
  });
  const ends = new ContainerEnds({ records, mailbox, runtime, log });
  const pause = new PauseRoot(paths.pause, runtime.binary);
  const networks = networksOf(settings, runtime.binary, log);
  const fresh = new FreshImages();
  const images: Images = new ImageStore({
    ...{ directory: paths.images, bootId: bootId(), ...ofImages },
    onSyncError: (error) => log("error", "layers-not-synced", { message: String(error) }),
    inUse: () => [...imagesOf(records.values()), ...fresh.all(), ...pools.used, ...autoUpdate.used],
    remembered: () => imagesOfRevisions(services.values(), revisions),
    onDamaged: (manifest) => log("error", "images-kept", { message: "an image of a container cannot be read", manifest }),
  });
  const pools: Pools = new Pools({
    ...{ paths, records: poolRecords, edits, images, binary: runtime.binary, cgroupParent: settings.cgroupParent, pullPolicy, log },
    rootsDirectory: settings.usersDir === undefined ? paths.poolRoots : join(settings.usersDir, `pools-${shortKey(stateDir)}`),
  });
  const builder = new Builder({
    ...{ directory: paths.builder, runtime: runtime.binary, place: buildPlace(networks, cgroupParent, stateDir) },
    ...{ credentials: ofImages.credentials ?? {}, timeoutMs },
    hasOverlays: () => images.hasOverlays(),
    take: (archive, names, signal) => images.take(archive, names, signal),
  });
  const users = new TaskUsers({ directory: usersDirectory(settings, paths), layers: images.layers, binary: runtime.binary, pause });
  const specCopies = new SpecCopies(paths);
  const orphans = new Orphans(runtime, specCopies);
  const keptVolumes = new KeptVolumes({ paths, records, orphans });
  const interfaces = new Interfaces({ edits, records });
  const endMessages = new EndMessages(paths, log);
  const logRouters = new LogRouters({ paths, records });
  const unproven = () =>
    new Set(
      [...services.values()].flatMap((one) =>
        unprovenTasks(one, revisions.get(revisionKey({ ...one, service: one.name, number: one.rollout.to }))?.specs),
      ),
    );
  const names = new NetworkNames({ networks, runtimes, records, unproven, log });

  // The order in which the resources of a task are prepared. What can fail soon comes before what takes long.
  const resources: readonly TaskResource[] = [
    new ContainerLogs(paths),
    new Devices(settings.cdiPath, (message) => log("info", "cdi", { message })),
    specCopies,
    new TaskCgroups({ binary: runtime.binary, cgroupParent, runtimes }),
    interfaces,
    new OwnNetwork({ networks, interfaces, users, runtimes, names, log }),
    new NameServers(paths),
    new MetadataFiles(paths, log),
    endMessages,
    logRouters,
    new SharedProxies({ paths, records }),
    new JoinedNamespaces({ paths, records }),
    new ContainerSecrets(paths.secrets),
    new ImageRoots({ images, users, pools: poolRecords, log }),
    new PrivateUsers({ users, images }),
    new TaskVolumes({ paths, kept: keptVolumes, images, pullPolicy, runtimes, log }),
  ];

  // What acts.
  const pulling = new Pulling({
    ...{ images, fresh, policy: pullPolicy },
    tell: (task, { container, generation }, phase, size) => mailbox.post(task, { type: "pulling", container, generation, phase, size }),
  });
  const launching = new Launching({ paths, resources, pause, cgroupParent, runtimes });
  const checking = new Checking({ runtime, networks, runtimes });
  const effects = new Effects({ resources, runtime, launching, pulling, checking, log });
  const carryingOut = new CarryingOut({ resources, mailbox, effects, ends, conditions, log, probe });
  const turns = new Turns({
    ...{ store, mailbox, records, succeeded, services, revisions, pools: poolRecords, capacity, probe, host: edits },
    clock: systemClock,
    options: { ...DEFAULT_OPTIONS, ...settings.options },
    queue: { ...DEFAULT_QUEUE, ...settings.queue },
    carryOut: (order) => carryingOut.begin(order),
    onStore: (error) => {
      conditions.store(error);
      if (error === undefined) store.keepReserve();
    },
    onDefect: (error) => log("error", "event-failed", defectFacts(error)),
  });

  // What follows from each change.
  const routes = new NetworkRoutes(networks, log);
  const forwarding = new Forwarding({
    ...{ paths, records, journalSocket: settings.journalSocket, logRouters, log },
    onCommit: (listener) => turns.onCommit(listener),
  });
  const agents = new Agents({ records, runtime, mailbox });
  turns.onCommit(() => names.refresh());
  turns.onCommit(() => routes.refresh([...records.values()]));
  turns.onCommit(() => forwarding.refresh());
  const schedules = new Schedules({ records, edits, log });
  const rollouts = new Rollouts({ records, services, revisions, edits, clock: systemClock, log });
  const autoUpdate: AutoUpdate = new AutoUpdate({ ...{ records, services, revisions, edits, images }, credentials: ofImages.credentials });
  const serviceRollouts = new ServiceRollouts({ services, revisions, edits, autoUpdate });
  const watched = new WatchedFiles({ edits, records, conditions, support });
  turns.onCommit(() => agents.refresh());
  turns.onCommit(() => pools.refresh());
  turns.onCommit(() => schedules.refresh());
  turns.onCommit(() => rollouts.refresh());
  const returnedTags = new ReturnedTags({ records, services, revisions, shelf: images.shelf, log });
  turns.onCommit(() => returnedTags.refresh());
  turns.onCommit(() => pulling.cancelUnwanted(records));

  return {
    ...{ store, paths, conditions, records, succeeded, mailbox, edits, fence, runtime, ends, networks, images, specCopies, orphans },
    ...{ services, revisions, rollouts, serviceRollouts, autoUpdate, watched, pulling, pools, poolRecords, names },
    ...{ keptVolumes, interfaces, endMessages, resources, turns, forwarding, agents, schedules, capacity, support, users: userIds, log },
    strays: new Strays({ resources, runtime, log }),
    guests: new GuestReports({ isInMachine: ({ spec }) => isInMachine(spec, runtimes), ask: (id) => runtime.machineMetrics(id) }),
    orphanPolicy: settings.orphans ?? "show",
    networkWatch: new NetworkWatch({
      ...{ networks, known: () => names.known(), conditions, records, log, intervalMs: settings.networkCheckMs },
      tell: (message) => mailbox.edit((draft) => draft.tell({ type: "packetFilter", message })),
    }),
    volumeWatch: new VolumeWatch({ paths, images, records, mailbox, log, intervalMs: settings.volumeCheckMs }),
    imageCare: new ImageCare({ images, builder, records, policy: pullPolicy, cleanUp, log }),
    poll: new Poll({ everyMs: settings.pollMs ?? POLL_MS, runtime, records, mailbox, ends, log }),
  };
}

function defectFacts(error: unknown): Readonly<Record<string, unknown>> {
  return { message: String(error), ...(error instanceof Error ? { stack: error.stack } : {}) };
}

/** A task without a record has no cgroup of its own as far as this engine knows. */
function cgroupOf(record: TaskRecord | undefined, parent: string): KnownCgroup {
  const own = record?.cgroup ?? null;
  return own === null ? { parent, isUnique: false } : { parent: own, isUnique: true };
}

/** No task has such an id. */
const BUILDER = "builder";
/** A group has a name, so that no task is in the network of builds. */
const NO_GROUP = "";
/** A function, because the first use of the schema takes 20 ms, and most starts of the daemon build nothing. */
const buildTask = () =>
  taskSchema.parse({
    name: BUILDER,
    containers: [{ name: BUILDER, rootfs: "/", command: "/" }],
    network: { mode: "bridge", name: BUILDER },
  });

/** Builds have a network of their own, as a task has one; the networks' own sweep removes what a killed daemon has left of it. */
function buildPlace(networks: TaskNetworks, cgroupParent: string, stateDir: string): BuildPlace {
  const above = ownCgroup(BUILDER, cgroupParent, stateDir);
  const cgroupOf = (suffix: string) => `${above}-${suffix}`;
  return {
    async makeNetwork() {
      await networks.provision(BUILDER, NO_GROUP, buildTask(), { users: undefined, isEarly: false, asks: false });
      return networks.placement(BUILDER).path;
    },
    removeNetwork: () => networks.release(BUILDER),
    cgroupOf,
    removeCgroup: (suffix) => removeTaskCgroup(cgroupOf(suffix)),
  };
}

function usersDirectory({ usersDir, stateDir }: EngineSettings, paths: Paths): string {
  return usersDir === undefined ? paths.users : join(usersDir, `users-${shortKey(stateDir)}`);
}

// The default capacity of this host for tasks.

/** The CPUs that this process may use, and the memory of the host. Source: sched_getaffinity(2), sysinfo(2). */
function capacityOf(configured: Partial<HostCapacity> = {}): HostCapacity {
  return { cpus: configured.cpus ?? availableParallelism(), memoryBytes: configured.memoryBytes ?? totalmem() };
}
