/**
 * What each kind of operation needs to be there before it, and what it provides or ends. The places of parts (src/runtime/plan/schedule.ts) are not worked out from it
 * at every start, which would cost more than the schedule saves: schedule.test.ts holds it against plans in both orders.
 */
import { CLONE_NEW } from "../../src/shared/linux/index.ts";
import { MESSAGES, NO_SLOT, type OpArgs, type OpName, SLOT } from "../../src/shared/protocol/index.ts";

export type Resource =
  /** ROOT/ID says what may have to be undone. */
  | "record"
  | "cgroups"
  /** What is written to the cgroups, with the rules for devices and without. */
  | "limits"
  | "limits of init"
  /** init is in its cgroups. */
  | "joined"
  | "cgroup namespace"
  /** The runtime knows init's pid. */
  | "pid"
  | "id maps"
  /** Files of the host, where the host has them. */
  | "host view"
  /** What init has before it becomes the user of the process. */
  | "rights"
  | "propagation"
  | "root"
  | "hooks"
  | "pivot"
  | "user"
  | "program"
  | "sweep"
  | "ready"
  | "commit"
  | `slot ${number}`
  | `file ${string}`
  | `cgroup ${string}`
  /** What is written to this directory, without the rules for devices. */
  | `limits of ${string}`;

type Resources<K extends OpName> = readonly Resource[] | ((args: OpArgs<K>) => readonly Resource[]);

export interface Declaration<K extends OpName> {
  readonly needs?: Resources<K>;
  readonly provides?: Resources<K>;
  /** An operation that needs these comes before. */
  readonly ends?: readonly Resource[];
  /** Where in the container it makes or changes something. */
  readonly place?: (args: OpArgs<K>) => string;
  /** Rules for devices may refuse it. While those of v1 are written one by one, they refuse it to a member of the cgroup. */
  readonly usesDevices?: true;
  /** It sees or changes the whole tree: nothing that has a place may pass it. */
  readonly seesTree?: (args: OpArgs<K>) => boolean;
}

const cgroupOf = (path: string): Resource => `cgroup ${path.slice(0, path.lastIndexOf("/"))}`;
const slots = (first: number, count: number): Resource[] => Array.from({ length: count }, (_, at): Resource => `slot ${first + at}`);
const opened = ({ slot }: { readonly slot: number }): Resource[] => [`slot ${slot}`];
export const isDeviceRule = (path: string): boolean => /\/devices\.(allow|deny)$/.test(path);
const atTarget = ({ target }: { readonly target: string }): string => target;
const atPath = ({ path }: { readonly path: string }): string => path;
const always = (): boolean => true;

const ON_RECORD = { needs: ["record"] } as const;
const ON_INIT = { needs: ["record", "pid"] } as const;
const MOUNT = ["root", "host view", "rights"] as const;
const IN_ROOT = { needs: ["pivot", "rights"] } as const;
const PIVOT = { needs: ["root", "hooks", "rights"], provides: ["pivot"], ends: ["host view"], seesTree: always } as const;
/** Hooks that init runs itself. */
const IN_CONTAINER: ReadonlySet<string> = new Set(["createContainer", "startContainer"]);
const NOT_CREATED = {} as const;

type Declarations = { readonly [K in OpName]: Declaration<K> };

export const NEEDS: Declarations = {
  // The runtime, on the host.
  "state.intent": { provides: ["record"] },
  "fifo.create": { ...ON_RECORD, provides: ({ path }) => [`file ${path}`] },
  "notify.prepare": ON_RECORD,
  "root.bind": ON_RECORD,
  "resctrl.prepare": ON_RECORD,
  "resctrl.monitor": ON_RECORD,
  "cgroup.create": { ...ON_RECORD, provides: ({ path }) => ["cgroups", `cgroup ${path}`] },
  // The rules for devices hold for the program: init makes its nodes before it joins, or when all of them are written.
  "cgroup.write": {
    needs: ({ path }) => ["record", cgroupOf(path)],
    provides: ({ path }) => (isDeviceRule(path) ? ["limits"] : ["limits", "limits of init", `limits of ${cgroupOf(path)}`]),
  },
  "cgroup.devices": { needs: ({ path }) => ["record", `cgroup ${path}`], provides: ["limits"] },
  "cgroup.delegate": { needs: ({ path }) => ["record", `cgroup ${path}`] },
  "helper.spawn": {},

  // The runtime, on init.
  "systemd.startUnit": { ...ON_INIT, provides: ["cgroups", "joined"] },
  "cgroup.attach": { needs: ({ files }) => ["record", "pid", ...files.map(cgroupOf)], provides: ["cgroups", "joined"] },
  "idmap.write": { ...ON_INIT, provides: ["id maps"] },
  "idmap.verify": ON_INIT,
  "process.oomScoreAdj": ON_INIT,
  "resctrl.join": ON_INIT,
  "netdevice.move": ON_INIT,
  "seccomp.prepare": { ...ON_RECORD, provides: ({ path }) => [`file ${path}`] },
  "seccomp.send": { needs: ({ path }) => ["pid", `file ${path}`] },
  "seccomp.notify": { needs: ["pid"] },
  "state.commit": { needs: ["record", "pid", "ready"], provides: ["commit"] },
  "pidfile.write": { needs: ["commit"] },
  "pidfd.send": { needs: ["commit"] },
  "sync.end": { needs: ["commit"] },

  // The intermediate, before the clone; some of it init can do as well.
  "file.open": { needs: ({ path }) => ["host view", `file ${path}`], provides: opened },
  "proc.open": { needs: ["host view"], provides: [`slot ${SLOT.PROC}`] },
  "mask.open": { needs: ["host view", "rights"], provides: [`slot ${SLOT.NULL}`] },
  "console.connect": { needs: ["host view"], provides: [`slot ${SLOT.CONSOLE}`] },
  "cgroup.open": { needs: ({ files }) => ["host view", ...files.map(cgroupOf)], provides: ({ slot, files }) => slots(slot, files.length) },
  "cgroup.openDirectory": { needs: ({ path }) => [`cgroup ${path}`, `limits of cgroup ${path}`], provides: opened },
  "cgroup.openTree": { needs: ({ path }) => ["host view", "rights", `cgroup ${path}`], provides: opened },
  "mount.open": { needs: ({ source }) => ["host view", "rights", `cgroup ${source}`], provides: opened },
  "mount.openLink": { needs: ["host view", "rights"], provides: opened },
  "mount.make": { needs: ["rights"], provides: opened },
  "mount.idmap": { needs: ({ slot, userNamespace }) => ["rights", `slot ${slot}`, `slot ${userNamespace}`] },
  "idmap.open": { needs: ["rights"], provides: opened },
  "device.open": { needs: ["rights"], provides: opened },
  "source.serve": { needs: ["host view"] },
  "namespace.join": {},
  "time.offsets": {},
  "process.clone": { needs: ({ cgroup }) => (cgroup === NO_SLOT ? [] : [`slot ${cgroup}`]) },

  // init, up to the pivot.
  "process.deathSignal": {},
  "cgroup.join": { needs: ({ slot, count }) => ["rights", "limits of init", ...slots(slot, count)], provides: ["joined"] },
  "namespace.unshare": {
    needs: ["joined", "rights"],
    provides: ({ flags }) => (flags === CLONE_NEW.cgroup ? ["cgroup namespace"] : []),
  },
  "process.becomeRoot": { needs: ["id maps"] },
  "session.create": {},
  "keyring.join": {},
  "loopback.up": { needs: ["rights"] },
  "hostname.set": { needs: ["rights"] },
  "domainname.set": { needs: ["rights"] },
  "root.propagation": { needs: ["rights", "id maps"], provides: ["propagation"] },
  "root.open": { needs: ["host view", "rights", "propagation"], provides: ["root"] },
  "mount.bind": { needs: ({ slot }) => [...MOUNT, `slot ${slot}`], place: atTarget },
  // One of cgroups shows what the cgroup namespace of its maker shows.
  "mount.filesystem": { needs: ({ fstype }) => (fstype === "cgroup" ? [...MOUNT, "cgroup namespace"] : MOUNT), place: atTarget },
  "mount.cgroup": { needs: ({ slot }) => [...MOUNT, "joined", "cgroup namespace", `slot ${slot}`], place: atTarget },
  "mount.remount": { needs: MOUNT, place: atTarget },
  "directory.open": { needs: MOUNT, provides: opened, place: atPath },
  "directory.copy": { needs: ({ slot }) => [...MOUNT, `slot ${slot}`], place: atPath },
  "device.create": { needs: MOUNT, place: atPath, usesDevices: true },
  "symlink.create": { needs: MOUNT, place: atPath },
  "console.open": { needs: ({ slot }) => [...MOUNT, `slot ${slot}`], place: () => "/dev/console", usesDevices: true },
  // No program runs before the limits are set.
  "hook.run": { needs: ({ kind }) => (IN_CONTAINER.has(kind) ? ["limits"] : ["pid", "limits"]), provides: ["hooks"], seesTree: always },
  "root.pivot": PIVOT,
  "root.move": PIVOT,
  "root.enter": PIVOT,

  // init, in its finished root. What protects paths can be done before the pivot, too.
  "directory.create": { ...IN_ROOT, place: atPath },
  "sysctl.write": { needs: ["pivot", "rights", `slot ${SLOT.PROC}`] },
  "path.readonly": { needs: ["root", "rights"], place: atPath },
  "path.mask": { needs: ["root", "rights", `slot ${SLOT.NULL}`], place: atPath },
  "root.readonly": { ...IN_ROOT, seesTree: always },
  "root.finalPropagation": { ...IN_ROOT, seesTree: always },

  // init, as the process.
  "process.umask": IN_ROOT,
  "process.stdioOwner": IN_ROOT,
  "process.noNewPrivileges": IN_ROOT,
  "label.set": { needs: ["rights", `slot ${SLOT.PROC}`] },
  "capability.bounding": { needs: ["rights"] },
  "process.cwd": IN_ROOT,
  "process.home": { needs: ["pivot"] },
  "process.scheduler": IN_ROOT,
  "process.ioPriority": IN_ROOT,
  "process.memoryPolicy": IN_ROOT,
  "process.personality": IN_ROOT,
  "process.rlimit": { needs: ["pivot"] },
  "process.user": { needs: ["joined", "pivot"], provides: ["user"], ends: ["rights"] },
  "capability.set": { needs: ["user"] },
  "capability.drop": { needs: ["user"] },
  "process.program": { needs: ["user", "pivot"], provides: ["program"] },
  "descriptors.sweep": { needs: ["pivot"], provides: ["sweep"] },
  "seccomp.receive": {},
  "seccomp.load": { needs: ["user", "sweep"] },
  "process.wait": { needs: ["commit", `slot ${SLOT.FIFO}`] },
  "process.claim": { needs: ["commit", "user", "pivot", `slot ${SLOT.FIFO}`], provides: ["program"] },
  "process.exec": { needs: ["limits", "joined", "cgroup namespace", "user", "program", "sweep", "commit"] },

  // Messages.
  "sync.send": {
    needs: ({ message }) => (message === MESSAGES.cgroup ? ["cgroups", "limits of init"] : message === MESSAGES.ready ? ["pivot"] : []),
    seesTree: ({ message }) => message === MESSAGES.hooks || message === MESSAGES.ready,
  },
  "sync.wait": { provides: ({ message }) => (message === MESSAGES.pid ? ["pid"] : message === MESSAGES.ready ? ["ready"] : []) },

  // Only in the message that process.claim takes.
  "console.size": NOT_CREATED,
  "file.receive": NOT_CREATED,

  // Only for containers that exist.
  "namespace.enter": NOT_CREATED,
  "root.current": NOT_CREATED,
  "process.affinity": NOT_CREATED,
  "mount.propagation": NOT_CREATED,
  "mount.detach": NOT_CREATED,
  "systemd.attach": NOT_CREATED,
};
