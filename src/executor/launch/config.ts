/** LaunchCommand -> config.json. Pure: who the user is and which cgroup version there is has been found out before. */
import { ExecutorError } from "../errors.ts";
import * as profile from "../profile.ts";
import { completeConfig } from "./bundle.ts";
import { cgroupsPathOf } from "./cgroup-place.ts";
import { checkCapabilities } from "./check.ts";
import type { Capabilities, CommandLaunch, Device, LaunchCommand, Mount, NamespaceMode, OciObject, ProcessLaunch } from "./command.ts";
import type { HostRights } from "./privileged.ts";
import { ociResources } from "./resources.ts";
import type { User } from "./user.ts";

export interface LaunchContext {
  readonly id: string;
  readonly user: User;
  readonly cgroupVersion: 1 | 2;
  /** Of `namespaces` that are another executor's: their paths. */
  readonly joined?: Readonly<Partial<Record<profile.NamespaceType, string>>>;
  /** Further paths to hide (profile.ts). */
  readonly maskedProcessors?: readonly string[];
  /** What a privileged container gets of the host; such a launch needs it. */
  readonly host?: HostRights;
}

export type OciConfig = OciObject;

const OCI_VERSION = "1.2.0";

/** @throws ExecutorError invalid-argument */
export function toConfig(command: LaunchCommand, context: LaunchContext): OciConfig {
  checkCapabilities(command);
  const { cgroupParent } = command;
  const cgroupsPath = cgroupParent === null ? undefined : cgroupsPathOf(context.id, cgroupParent);
  const resources = ociResources(command.resources ?? {}, context.cgroupVersion);
  if ("config" in command) {
    const named = Object.keys(command.namespaces ?? {}) as profile.NamespaceType[];
    const namespaces = new Map(named.map((type) => [type, namespaceOf(command, context, type)[0]]));
    return completeConfig(command, { cgroupsPath, namespaces, users: usersOf(command), resources, terminal: terminalOf(command) });
  }
  const host = command.privileged ? context.host! : undefined;
  return {
    ociVersion: OCI_VERSION,
    process: "process" in command ? ociProcess(command) : processOf(command, context.user, host),
    root: { path: command.rootfs, readonly: command.readonlyRootfs ?? false },
    ...hostnameOf(command, context),
    mounts: mountsOf(command),
    ...(command.annotations ? { annotations: command.annotations } : {}),
    ...(command.hooks ? { hooks: command.hooks } : {}),
    linux: {
      ...(cgroupsPath === undefined ? {} : { cgroupsPath }),
      namespaces: [...profile.DEFAULT_NAMESPACES.flatMap((type) => namespaceOf(command, context, type)), ...usersOf(command)],
      devices: nodesOf(command, host).map(({ access: _, ...node }) => node),
      ...(cgroupsPath === undefined
        ? {}
        : { resources: { ...resources, devices: deviceRules(command), ...(command.blockIO ? { blockIO: command.blockIO } : {}) } }),
      maskedPaths: command.privileged || command.unmasked ? [] : [...profile.MASKED_PATHS, ...(context.maskedProcessors ?? [])],
      readonlyPaths: command.privileged || command.unmasked ? [] : profile.READONLY_PATHS,
      ...(command.seccomp ? { seccomp: command.seccomp } : {}),
      ...propagationOf(command),
    },
  };
}

function namespaceOf(
  command: LaunchCommand,
  { joined }: LaunchContext,
  type: profile.NamespaceType,
): { readonly type: string; readonly path?: string }[] {
  const mode = modeOf(command, type);
  if (mode === "host") return [];
  if (mode === "private") return [{ type }];
  const path = "path" in mode ? mode.path : joined?.[type];
  if (path === undefined)
    throw new ExecutorError("invalid-argument", `namespaces.${type}: no path is known`, { field: `namespaces.${type}` });
  return [{ type, path }];
}

function usersOf({ userNamespace }: LaunchCommand): OciObject[] {
  return userNamespace === undefined ? [] : [{ type: "user", path: userNamespace }];
}

/** A device of the command takes the place of the host's at its path. */
function nodesOf({ devices = [] }: CommandLaunch | ProcessLaunch, host: HostRights | undefined): readonly Device[] {
  const own = new Set(devices.map(({ path }) => path));
  return [...(host?.devices ?? []).filter(({ path }) => !own.has(path)), ...devices];
}

/** A mount is passed on from or to the host only below a root that is. Source: runtime specification, "rootfsPropagation". */
function propagationOf({ mounts = [] }: CommandLaunch | ProcessLaunch): { readonly rootfsPropagation?: string } {
  const has = (...words: readonly string[]) => mounts.some(({ options = [] }) => words.some((word) => options.includes(word)));
  if (has("shared", "rshared")) return { rootfsPropagation: "shared" };
  return has("slave", "rslave") ? { rootfsPropagation: "rslave" } : {};
}

function deviceRules({ privileged, devices = [], deviceRules: further = [] }: CommandLaunch | ProcessLaunch): readonly OciObject[] {
  if (privileged) return [{ allow: true, access: "rwm" }];
  const allowed = devices.map(({ type, major, minor, access = "rwm" }) => ({ allow: true, type, major, minor, access }));
  return [{ allow: false, access: "rwm" }, ...allowed, ...further.map(({ access = "rwm", ...rule }) => ({ allow: true, access, ...rule }))];
}

/** The name of a namespace that is joined is its maker's. */
function hostnameOf(
  command: CommandLaunch | ProcessLaunch,
  { id }: LaunchContext,
): { readonly hostname?: string; readonly domainname?: string } {
  const mode = modeOf(command, "uts");
  const hostname = mode === "private" ? (command.hostname ?? id.slice(0, 63)) : command.hostname;
  if (mode === "host") return {};
  const domain = command.domainname === undefined ? {} : { domainname: command.domainname };
  return { ...(hostname === undefined ? {} : { hostname }), ...domain };
}

function modeOf({ namespaces }: LaunchCommand, type: profile.NamespaceType): NamespaceMode {
  return namespaces?.[type] ?? "private";
}

function terminalOf({ pty }: LaunchCommand): OciObject {
  if (!pty) return { terminal: false };
  return { terminal: true, ...(pty === true ? {} : { consoleSize: { height: pty.rows, width: pty.columns } }) };
}

function ociProcess(command: ProcessLaunch): OciObject {
  return { ...command.process, ...terminalOf(command) };
}

function processOf(
  command: CommandLaunch,
  { uid, gid, additionalGids, namedGids = [], home }: User,
  host: HostRights | undefined,
): OciObject {
  const env = { PATH: profile.DEFAULT_PATH, ...(home === undefined ? {} : { HOME: home }), ...command.env };
  const ofImage = command.strictGids ? [] : additionalGids;
  return {
    args: [command.cmd, ...(command.args ?? [])],
    env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    cwd: command.cwd ?? "/",
    user: { uid, gid, additionalGids: [...new Set([...ofImage, ...(command.additionalGids ?? []), ...namedGids])] },
    capabilities: capabilitiesOf(command.capabilities ?? host?.capabilities),
    noNewPrivileges: command.noNewPrivileges ?? !command.privileged,
    oomScoreAdj: command.oomScoreAdj ?? 0,
    ...(command.apparmorProfile === undefined ? {} : { apparmorProfile: command.apparmorProfile }),
    ...(command.rlimits ? { rlimits: command.rlimits } : {}),
    ...terminalOf(command),
  };
}

/** The five sets. Ambient ones have to be inheritable, permitted and in the bounding set too, or the kernel refuses them. */
export function capabilitiesOf(given: Capabilities = {}): Readonly<Record<string, readonly string[]>> {
  if (Array.isArray(given)) return capabilitiesOf({ bounding: given, effective: given, permitted: given });
  const { bounding, effective, permitted, inheritable = [], ambient = [] } = given as Exclude<Capabilities, readonly string[]>;
  const withAmbient = (set: readonly string[]) => [...new Set([...set, ...ambient])];
  return {
    bounding: withAmbient(bounding ?? profile.DEFAULT_CAPABILITIES),
    effective: withAmbient(effective ?? bounding ?? profile.DEFAULT_CAPABILITIES),
    permitted: withAmbient(permitted ?? bounding ?? profile.DEFAULT_CAPABILITIES),
    inheritable: withAmbient(inheritable),
    ambient,
  };
}

function mountsOf(command: CommandLaunch | ProcessLaunch): Mount[] {
  const own = command.mounts ?? [];
  const taken = new Set(own.map(({ destination }) => destination));
  const hostNetwork = modeOf(command, "network") === "host";
  const left = [...(modeOf(command, "ipc") === "host" ? ["/dev/mqueue"] : []), ...(command.sharedMemory === false ? ["/dev/shm"] : [])];
  const all: readonly Mount[] = command.privileged ? [...profile.DEFAULT_MOUNTS, profile.CGROUPS] : profile.DEFAULT_MOUNTS;
  const defaults = all
    .filter(({ destination }) => !taken.has(destination) && !left.includes(destination))
    .map((mount) => (hostNetwork && mount.destination === "/sys" ? profile.HOST_SYSFS : mount));
  return [...(command.privileged ? defaults.map(writable) : defaults), ...own];
}

function writable(mount: Mount): Mount {
  return { ...mount, ...(mount.options === undefined ? {} : { options: mount.options.filter((option) => option !== "ro") }) };
}
