/** Builds the parts of an engine from its settings and its store, without starting anything. */
import { dirname, join } from "node:path";
import { Fence, type KnownCgroup } from "../../executor/index.ts";
import { checkSystemd, parentSlice } from "../cgroup/index.ts";
import { ImageStore, type Images } from "../images/index.ts";
import {
  DEFAULT_OPTIONS,
  DEFAULT_QUEUE,
  DEFAULT_USERS,
  type HostCapacity,
  type TaskRecord,
  taskIdOf,
  type UserRange,
} from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import { locatePause, makePauseRoot } from "../pause/index.ts";
import type { HostSupport } from "../plan/index.ts";
import { SecretFiles } from "../secrets/index.ts";
import type { Contents, Store } from "../store/index.ts";
import { TaskUsers } from "../users/index.ts";
import { capacityOf } from "./capacity.ts";
import { CarryingOut } from "./carrying-out.ts";
import { bootId, systemClock } from "./clock.ts";
import { Conditions } from "./conditions.ts";
import { Agents } from "./containers/agents.ts";
import { postExit, postLost } from "./containers/exits.ts";
import { KeptVolumes } from "./containers/kept-volumes.ts";
import { Launching } from "./containers/launching.ts";
import { makerOf } from "./containers/makers.ts";
import { MetadataFiles } from "./containers/metadata.ts";
import { type OrphanPolicy, Orphans, orphanTasks } from "./containers/orphans.ts";
import { directoriesIn } from "./containers/own-directory.ts";
import { ContainerRuntime } from "./containers/runtime.ts";
import { SpecCopies } from "./containers/spec-copies.ts";
import { Strays } from "./containers/strays.ts";
import { hostFactsIn, succeededIn, tasksIn } from "./desired/codec.ts";
import { Edits } from "./desired/edits.ts";
import { Effects } from "./effects.ts";
import { ImageCare, imagesOf } from "./image-care.ts";
import type { EngineLog } from "./log.ts";
import { EndMessages } from "./logs/end-messages.ts";
import { Forwarding } from "./logs/forwarding.ts";
import { LogRouters } from "./logs/log-routers.ts";
import { Interfaces } from "./network/interfaces.ts";
import { NetworkNames } from "./network/names.ts";
import { networksOf, shortKey, stateKey } from "./network/networks.ts";
import { NetworkRoutes } from "./network/routes.ts";
import { SharedProxies } from "./network/shared-proxies.ts";
import { NetworkWatch } from "./network/watch.ts";
import { Paths } from "./paths.ts";
import { Poll } from "./poll.ts";
import { Pulling } from "./pulling.ts";
import type { EngineSettings } from "./settings.ts";
import { Turns } from "./turn.ts";
import { VolumeWatch } from "./volume-watch.ts";

const LAUNCH_TIMEOUT_MS = 120_000;
const POLL_MS = 2 * 60_000;

export interface EngineParts {
  readonly store: Store;
  readonly paths: Paths;
  readonly turns: Turns;
  readonly edits: Edits;
  readonly runtime: ContainerRuntime;
  readonly fence: Fence | undefined;
  readonly conditions: Conditions;
  readonly specCopies: SpecCopies;
  readonly orphans: Orphans;
  readonly strays: Strays;
  readonly orphanPolicy: OrphanPolicy;
  readonly networks: TaskNetworks;
  readonly keptVolumes: KeptVolumes;
  readonly interfaces: Interfaces;
  readonly networkWatch: NetworkWatch;
  readonly volumeWatch: VolumeWatch;
  readonly agents: Agents;
  readonly forwarding: Forwarding;
  readonly images: Images;
  readonly imageCare: ImageCare;
  readonly secrets: SecretFiles;
  readonly pulling: Pulling;
  readonly metadata: MetadataFiles;
  readonly endMessages: EndMessages;
  readonly poll: Poll;
  readonly capacity: HostCapacity;
  /** What tasks may ask for. */
  readonly support: HostSupport;
  readonly users: UserRange;
  readonly taskUsers: TaskUsers;
  readonly log: EngineLog;
}

/** `store`: the open store of the settings' state directory, and what is in it. @throws ExecutorError runtime-not-found, runtime-version */
export function partsOf(settings: EngineSettings, store: Store, { records, damaged }: Contents): EngineParts {
  const {
    stateDir,
    cgroupParent,
    cgroupManager = "cgroupfs",
    taskLimits = true,
    userIds = DEFAULT_USERS,
    images: imageSettings = {},
    probe,
    log = () => {},
  } = settings;
  const paths = new Paths(stateDir, settings.namespaceDir === undefined ? undefined : dirname(settings.namespaceDir));
  const conditions = new Conditions(log);
  const specCopies = new SpecCopies(paths);
  const networks = networksOf(settings);
  const metadata = new MetadataFiles(paths, log);
  const endMessages = new EndMessages(paths, log);
  const logRouters = new LogRouters({ paths, records: () => turns.records });
  const sharedProxies = new SharedProxies({ paths, records: () => turns.records });
  const orphans: Orphans = new Orphans({ present: () => runtime.present() });
  const keptVolumes = new KeptVolumes({ paths, records: () => turns.records, orphans: () => orphanTasks(orphans, specCopies) });
  const fence = settings.isOwnProcess ? new Fence({ cgroupParent, key: stateKey(stateDir), stateDir: paths.executors }) : undefined;
  const parent = cgroupManager === "systemd" ? parentSlice(cgroupParent) : cgroupParent;
  const support: HostSupport = { hasTaskLimits: taskLimits, runtimes: settings.runtimes ?? {} };
  const runtime = new ContainerRuntime(
    {
      stateDir: paths.executors,
      memoryDir: paths.executorsInMemory,
      binary: settings.runtime,
      makerOf: (id) => makerOf(turns.records, support.runtimes, id),
      launchTimeoutMs: settings.launchTimeoutMs ?? LAUNCH_TIMEOUT_MS,
      cgroupOf: (id) => cgroupOf(turns.records.get(taskIdOf(id)), parent),
      ...{ fence, log },
    },
    {
      onExit: (id, process) => void postExit(turns, runtime, id, process),
      onLost: (id, error) => postLost({ turns, log }, id, error),
    },
  );

  const { pullPolicy = "default", cleanUp = {}, ...ofImages } = imageSettings;
  const images = new ImageStore({
    ...{ directory: paths.images, bootId: bootId(), ...ofImages },
    onSyncError: (error) => log("error", "layers-not-synced", { message: String(error) }),
    inUse: () => [...imagesOf(turns.records.values()), ...pulling.fresh],
  });
  if (cgroupManager === "systemd") checkSystemd();
  const secrets = new SecretFiles(paths.secrets);
  const maker = () => ({ binary: runtime.binary, pauseRoot: makePauseRoot(paths.pause, locatePause(runtime.binary)) });
  const taskUsers = new TaskUsers({ directory: usersDirectory(settings, paths), layers: images.layers, maker });
  const common = {
    paths,
    images,
    secrets,
    metadata,
    endMessages,
    logRouters,
    sharedProxies,
    keptVolumes,
    networks,
    users: taskUsers,
    runtimes: support.runtimes,
    cgroupParent: parent,
  };
  const launching = new Launching({ ...common, binary: runtime.binary });
  const pulling: Pulling = new Pulling({ images, launching, policy: pullPolicy });
  const interfaces = new Interfaces({ edits: () => edits, records: () => turns.records });
  const effects = new Effects({ ...common, interfaces, runtime, launching, pulling, specCopies });
  const carryingOut = new CarryingOut({ turns: () => turns, effects, runtime, log, probe });

  conditions.set("RecordsDamaged", damaged.map(({ kind, key }) => `${kind} ${key}`).join(", "));
  const capacity = capacityOf(settings.capacity);
  const turns: Turns = new Turns(
    {
      store,
      clock: systemClock,
      options: { ...DEFAULT_OPTIONS, ...settings.options },
      capacity,
      queue: { ...DEFAULT_QUEUE, ...settings.queue },
      facts: () => edits.facts,
      carryOut: (order) => carryingOut.begin(order),
      onStore: (error) => {
        conditions.store(error);
        if (error === undefined) store.keepReserve();
      },
      onDefect: (error) => log("error", "event-failed", defectFacts(error)),
      probe,
    },
    tasksIn(records, store.path),
    succeededIn(records),
  );
  const names = new NetworkNames(networks, log);
  turns.onCommit(() => names.refresh([...turns.records.values()]));
  const routes = new NetworkRoutes(networks, log);
  turns.onCommit(() => routes.refresh([...turns.records.values()]));
  const forwarding = new Forwarding({
    paths,
    records: () => turns.records,
    onCommit: (listener) => turns.onCommit(listener),
    journalSocket: settings.journalSocket,
    logRouters,
    log,
  });
  turns.onCommit(() => forwarding.refresh());
  const agents = new Agents({
    records: () => turns.records,
    spawn: (id, request) => runtime.spawn(id, request),
    post: (task, happening) => turns.post(task, happening),
  });
  turns.onCommit(() => agents.refresh());
  const { epoch = 0, revision = 0, interfaces: attached = [] } = hostFactsIn(records) ?? {};
  const facts = { epoch: epoch + 1, bootId: bootId(), revision, interfaces: attached };
  const hasVolumes = (group: string) => directoriesIn(paths.keptOf(group)).length > 0;
  const edits: Edits = new Edits(
    turns,
    { capacity, users: userIds, cgroupParent, cgroupManager, hasVolumes, hasTaskLimits: taskLimits },
    facts,
  );

  return {
    store,
    paths,
    turns,
    edits,
    runtime,
    fence,
    conditions,
    specCopies,
    orphans,
    strays: new Strays({ ...common, runtime, log, forget: (id) => effects.forget({ id, cgroup: null }) }),
    orphanPolicy: settings.orphans ?? "show",
    networks,
    keptVolumes,
    interfaces,
    networkWatch: new NetworkWatch({ networks, conditions, records: () => turns.records, intervalMs: settings.networkCheckMs }),
    agents,
    forwarding,
    volumeWatch: new VolumeWatch({ paths, turns, log, intervalMs: settings.volumeCheckMs }),
    images,
    secrets,
    imageCare: new ImageCare({ images, records: () => turns.records.values(), policy: pullPolicy, cleanUp, log }),
    pulling,
    metadata,
    endMessages,
    poll: new Poll({ everyMs: settings.pollMs ?? POLL_MS, runtime, turns: () => turns, log }),
    capacity,
    support,
    users: userIds,
    taskUsers,
    log,
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

function usersDirectory({ usersDir, stateDir }: EngineSettings, paths: Paths): string {
  return usersDir === undefined ? paths.users : join(usersDir, `users-${shortKey(stateDir)}`);
}
