/** The requests and answers of `criu swrk` (rpc.proto of criu 3.0 to 4.x; numbers are never used again there). Pure. */
import { decodeMessage, encodeMessage, type Message, messageOf, numberOf, textOf } from "./protobuf.ts";

export const REQUEST = { dump: 1, restore: 2, preDump: 4, notify: 6, featureCheck: 9, version: 10 } as const;

/** criu_cg_mode: what criu does about cgroups and their settings. */
const CGROUP_MODE = { ignore: 0, soft: 3, full: 4, strict: 5 } as const;
export type CgroupModeName = keyof typeof CGROUP_MODE;

/** criu_network_lock_method: how packets of dumped connections are held back. */
const NETWORK_LOCK = { iptables: 1, nftables: 2, skip: 3 } as const;
export type NetworkLock = keyof typeof NETWORK_LOCK;

/** Field numbers of criu_opts. */
const OPTION = {
  imagesDirectory: 1,
  pid: 2,
  leaveRunning: 3,
  externalUnixSockets: 4,
  tcpEstablished: 5,
  evasiveDevices: 6,
  shellJob: 7,
  fileLocks: 8,
  logLevel: 9,
  logFile: 10,
  pageServer: 11,
  notify: 12,
  root: 13,
  parentImage: 14,
  trackMemory: 15,
  autoDedup: 16,
  workDirectory: 17,
  linkRemap: 18,
  externalMounts: 23,
  manageCgroups: 24,
  cgroupRoots: 25,
  sibling: 26,
  inherit: 27,
  manageCgroupsMode: 34,
  external: 37,
  emptyNamespaces: 38,
  joinNamespaces: 39,
  freezeCgroup: 44,
  tcpSkipInFlight: 46,
  lazyPages: 48,
  orphanTerminal: 50,
  configFile: 51,
  tcpClose: 52,
  lsmProfile: 53,
  lsmMountContext: 63,
  networkLock: 64,
} as const;

/** Everything that runt ever asks for; descriptors are criu's. */
export interface CriuOptions {
  readonly imagesDirectory: number;
  readonly workDirectory: number;
  readonly logFile: string;
  readonly root: string;
  readonly pid?: number;
  readonly leaveRunning?: boolean;
  readonly externalUnixSockets?: boolean;
  readonly tcpEstablished?: boolean;
  readonly tcpSkipInFlight?: boolean;
  readonly tcpClose?: boolean;
  readonly shellJob?: boolean;
  readonly fileLocks?: boolean;
  readonly linkRemap?: boolean;
  readonly autoDedup?: boolean;
  readonly lazyPages?: boolean;
  readonly trackMemory?: boolean;
  readonly parentImage?: string;
  readonly pageServer?: { readonly address: string; readonly port: number };
  readonly externalMounts: readonly ExternalMount[];
  readonly external?: readonly string[];
  readonly cgroupMode: CgroupModeName;
  readonly cgroupRoots?: readonly CgroupRoot[];
  readonly freezeCgroup?: string;
  /** The restored process becomes a child of the process that started criu. */
  readonly sibling?: boolean;
  readonly inherit?: readonly InheritedDescriptor[];
  /** CLONE_NEW* bits. */
  readonly emptyNamespaces: number;
  readonly joinNamespaces?: readonly JoinedNamespace[];
  readonly configFile?: string;
  readonly lsmProfile?: string;
  readonly lsmMountContext?: string;
  readonly networkLock?: NetworkLock;
}

/** dump: mount point and its name in the image; restore: that name and what is bound there. */
export interface ExternalMount {
  readonly key: string;
  readonly value: string;
}

export interface CgroupRoot {
  /** v1 controller, or name=NAME; "" for v2. */
  readonly controller: string;
  readonly path: string;
}

export interface InheritedDescriptor {
  readonly key: string;
  readonly fd: number;
}

export interface JoinedNamespace {
  /** As criu names it: "ipc", "uts". */
  readonly type: string;
  readonly path: string;
}

/** criu's own levels: 4 is everything. */
const LOG_LEVEL = 4;

export function encodeRequest(type: number, options?: CriuOptions): Uint8Array {
  return encodeMessage({ 1: type, ...(options && { 2: optionsMessage(options) }) });
}

/** "Notification understood": whether criu shall go on. */
export function encodeAcknowledgement(success: boolean): Uint8Array {
  return encodeMessage({ 1: REQUEST.notify, 3: success });
}

/** Which of these the installed criu and the kernel can do together. */
export function encodeFeatureCheck(features: Features): Uint8Array {
  return encodeMessage({ 1: REQUEST.featureCheck, 5: { 1: features.trackMemory, 2: features.lazyPages } });
}

export interface Features {
  readonly trackMemory: boolean;
  readonly lazyPages: boolean;
}

function optionsMessage(options: CriuOptions): Message {
  const { cgroupMode, networkLock, pageServer } = options;
  return {
    [OPTION.imagesDirectory]: options.imagesDirectory,
    [OPTION.workDirectory]: options.workDirectory,
    [OPTION.logLevel]: LOG_LEVEL,
    [OPTION.logFile]: options.logFile,
    [OPTION.root]: options.root,
    [OPTION.notify]: true,
    // A device whose file has gone is looked for by its number.
    [OPTION.evasiveDevices]: true,
    // Terminals whose master side is with an engine.
    [OPTION.orphanTerminal]: true,
    [OPTION.pid]: options.pid,
    [OPTION.leaveRunning]: options.leaveRunning,
    [OPTION.externalUnixSockets]: options.externalUnixSockets,
    [OPTION.tcpEstablished]: options.tcpEstablished,
    [OPTION.tcpSkipInFlight]: options.tcpSkipInFlight,
    [OPTION.tcpClose]: options.tcpClose,
    [OPTION.shellJob]: options.shellJob,
    [OPTION.fileLocks]: options.fileLocks,
    [OPTION.linkRemap]: options.linkRemap,
    [OPTION.autoDedup]: options.autoDedup,
    [OPTION.lazyPages]: options.lazyPages,
    [OPTION.trackMemory]: options.trackMemory,
    [OPTION.parentImage]: options.parentImage,
    [OPTION.pageServer]: pageServer && { 1: pageServer.address, 2: pageServer.port },
    [OPTION.externalMounts]: options.externalMounts.map(({ key, value }) => ({ 1: key, 2: value })),
    [OPTION.external]: options.external,
    [OPTION.manageCgroups]: cgroupMode !== "ignore",
    [OPTION.manageCgroupsMode]: CGROUP_MODE[cgroupMode],
    [OPTION.cgroupRoots]: options.cgroupRoots?.map(({ controller, path }) => ({ 1: controller, 2: path })),
    [OPTION.freezeCgroup]: options.freezeCgroup,
    [OPTION.sibling]: options.sibling,
    [OPTION.inherit]: options.inherit?.map(({ key, fd }) => ({ 1: key, 2: fd })),
    [OPTION.emptyNamespaces]: options.emptyNamespaces,
    [OPTION.joinNamespaces]: options.joinNamespaces?.map(({ type, path }) => ({ 1: type, 2: path })),
    [OPTION.configFile]: options.configFile,
    [OPTION.lsmProfile]: options.lsmProfile,
    [OPTION.lsmMountContext]: options.lsmMountContext,
    [OPTION.networkLock]: networkLock && NETWORK_LOCK[networkLock],
  };
}

export interface Answer {
  readonly type: number;
  readonly success: boolean;
  /** Of a notification: its name, and the pid of the container's process where it is about one. */
  readonly script?: string;
  readonly pid?: number;
  readonly errno?: number;
  readonly message?: string;
  /** major, minor, sublevel. */
  readonly version?: readonly [number, number, number];
  readonly features?: Features;
}

/** @throws RangeError for bytes that are no answer */
export function decodeAnswer(data: ArrayBuffer): Answer {
  const fields = decodeMessage(new Uint8Array(data));
  const type = numberOf(fields, 1);
  if (type === undefined) throw new RangeError("an answer without a type");
  const [restore, notify, features, version] = [4, 5, 8, 10].map((field) => messageOf(fields, field));
  const [errno, message] = [numberOf(fields, 7), textOf(fields, 9)];
  const script = notify && textOf(notify, 1);
  const pid = (notify && numberOf(notify, 2)) ?? (restore && numberOf(restore, 1));
  return {
    type,
    success: numberOf(fields, 2) === 1,
    ...(script !== undefined && { script }),
    ...(pid !== undefined && { pid }),
    ...(errno && { errno }),
    ...(message && { message }),
    ...(version && { version: [numberOf(version, 1) ?? 0, numberOf(version, 2) ?? 0, numberOf(version, 4) ?? 0] }),
    ...(features && { features: { trackMemory: numberOf(features, 1) === 1, lazyPages: numberOf(features, 2) === 1 } }),
  };
}
