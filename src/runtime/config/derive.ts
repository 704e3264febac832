/** Spec -> ContainerConfig: names to numbers, relative to absolute, defaults filled in. Pure. */
import { RuntError } from "../errors/index.ts";
import { absolutePath, HOOK_KINDS, pointerToken, type Spec, type SpecLinux } from "../spec/index.ts";
import { NO_CAPABILITIES } from "./capabilities.ts";
import { deriveDevices, mountedInDev } from "./devices.ts";
import { MOUNT_OPTIONS } from "./mount-options.ts";
import { deriveMount } from "./mounts.ts";
import { deriveIdMappings, deriveNamespaces, deriveTimeOffsets } from "./namespaces.ts";
import { deriveMemoryPolicy, derivePersonality, deriveProcess } from "./process.ts";
import { deriveResources } from "./resources.ts";
import { deriveSeccomp } from "./seccomp.ts";
import { deriveSysctl } from "./sysctl.ts";
import { deriveTemplate } from "./template.ts";
import type {
  ContainerConfig,
  HookConfig,
  HookKind,
  HooksConfig,
  IntelRdtConfig,
  NetDeviceConfig,
  ProcessConfig,
  ResourceConfig,
} from "./types.ts";
import type { Warn, Warning } from "./warnings.ts";

export interface DeriveContext {
  /** Absolute bundle directory. */
  readonly bundle: string;
}

/**
 * Expects a spec that `checkSpec` accepts.
 * @throws RuntError "config-invalid" with the JSON pointer of the field
 */
export function deriveConfig(spec: Spec, context: DeriveContext): ContainerConfig {
  if (!spec.root?.path) throw new RuntError("config-invalid", "root.path: required but missing", { pointer: "/root/path" });
  const warnings: Warning[] = [];
  const warn: Warn = (code, pointer, message) => void warnings.push({ code, pointer, message });
  const { linux } = spec;
  const namespaces = deriveNamespaces(linux?.namespaces ?? []);
  const ids = { uidMappings: deriveIdMappings(linux?.uidMappings ?? []), gidMappings: deriveIdMappings(linux?.gidMappings ?? []) };
  const place = { bundle: context.bundle, ids: { ...ids, userNamespace: namespaces.find(({ type }) => type === "user") } };
  const timeOffsets = deriveTimeOffsets(linux?.timeOffsets);
  const mounted = mountedInDev(spec.mounts);
  const template = deriveTemplate(spec);
  return {
    ociVersion: spec.ociVersion,
    bundle: context.bundle,
    rootfs: absolutePath(context.bundle, spec.root.path),
    rootReadonly: spec.root.readonly === true,
    rootfsPropagation: propagationFlags(linux?.rootfsPropagation ?? ""),
    ...(spec.hostname && { hostname: spec.hostname }),
    ...(spec.domainname && { domainname: spec.domainname }),
    annotations: spec.annotations ?? {},
    ...(template && { template }),
    ...(spec.process && {
      process: { capabilities: NO_CAPABILITIES, ...deriveProcess(spec.process, "/process", warn), ...keptGroups(spec, warn) },
    }),
    namespaces,
    ...ids,
    ...(timeOffsets !== undefined && { timeOffsets }),
    mounts: (spec.mounts ?? []).map((mount, index) => deriveMount(mount, index, place, warn)),
    devices: deriveDevices(linux?.devices ?? [], mounted),
    mountedInDev: mounted,
    netDevices: deriveNetDevices(linux?.netDevices),
    ...(linux?.mountLabel && { mountLabel: linux.mountLabel }),
    maskedPaths: fromTheRoot(linux?.maskedPaths),
    readonlyPaths: fromTheRoot(linux?.readonlyPaths),
    sysctl: deriveSysctl(linux?.sysctl ?? {}, namespaces, spec.domainname),
    ...deriveSeccomp(linux?.seccomp, refusesUnknownCalls(spec.annotations) ? refuseWarned : warn),
    cgroupsPath: linux?.cgroupsPath ?? "",
    resources: { ...deriveResources(linux?.resources, warn), ...deviceRuleMode(spec.annotations) },
    ...(linux?.intelRdt && { intelRdt: deriveIntelRdt(linux.intelRdt, warn) }),
    ...(linux?.memoryPolicy && { memoryPolicy: deriveMemoryPolicy(linux.memoryPolicy) }),
    ...(linux?.personality && { personality: derivePersonality(linux.personality) }),
    hooks: deriveHooks(spec.hooks),
    warnings,
  };
}

/** A relative path is the container's, too; src/runtime/check says so. */
function fromTheRoot(paths: readonly string[] | null | undefined): readonly string[] {
  return paths ? paths.map((path) => (path.startsWith("/") ? path : `/${path}`)) : [];
}

/** "false": linux.resources.devices is all there is, without the rules that every container gets. */
const DEVICE_RULES = "io.runt.default-device-rules";

/** @throws RuntError config-invalid for a value that is neither "true" nor "false". */
export function deviceRuleMode(
  annotations: Readonly<Record<string, string>> | null | undefined,
): Pick<ResourceConfig, "onlyListedDevices"> {
  const value = annotations?.[DEVICE_RULES];
  if (value === undefined || value === "true") return {};
  if (value === "false") return { onlyListedDevices: true };
  throw new RuntError("config-invalid", `annotation ${DEVICE_RULES}: ${JSON.stringify(value)} is neither "true" nor "false"`, {
    pointer: `/annotations/${DEVICE_RULES}`,
    finding: "annotation-device-rules",
  });
}

type SpecHook = NonNullable<NonNullable<NonNullable<Spec["hooks"]>["prestart"]>>[number];

/** `hooks` -> HooksConfig (config, POSIX-platform hooks). */
export function deriveHooks(hooks: Spec["hooks"]): HooksConfig {
  const config: { -readonly [K in HookKind]?: readonly HookConfig[] } = {};
  for (const kind of HOOK_KINDS) {
    const list = hooks?.[kind];
    if (list && list.length > 0) config[kind] = list.map(deriveHook);
  }
  return config;
}

function deriveHook({ path, args, env, timeout }: SpecHook): HookConfig {
  return {
    path,
    args: args && args.length > 0 ? args : [path],
    ...(env && { env }),
    timeout: Math.min(Number(timeout ?? 0), LONGEST),
  };
}

/** What the helper's timer counts in seconds; longer is as good as none. */
const LONGEST = 0xffff_ffff;

/** linux.intelRdt: the lines in the order in which they are written (config-linux, IntelRdt). */
export function deriveIntelRdt(intelRdt: NonNullable<SpecLinux["intelRdt"]>, warn: Warn): IntelRdtConfig {
  for (const field of ["enableCMT", "enableMBM"] as const) {
    // In the specification from 1.1.0 to 1.2.1, with no meaning that anybody implemented.
    if (intelRdt[field])
      warn("intel-rdt-ignored", `/linux/intelRdt/${field}`, `linux.intelRdt.${field} has no effect, enableMonitoring has`);
  }
  const { closID, l3CacheSchema, memBwSchema, schemata } = intelRdt;
  return {
    ...(closID && { closId: closID }),
    schemata: [l3CacheSchema ?? "", memBwSchema ?? "", ...(schemata ?? [])].filter((line) => line !== ""),
    monitoring: intelRdt.enableMonitoring === true,
  };
}

/** crun's, which `podman run --group-add keep-groups` sets: groups of a caller that may not name them, for files that only they may read. */
const KEEP_GROUPS = "run.oci.keep_original_groups";

/** As with crun every value but "0" keeps them. */
export function keptGroups({ annotations, process }: Spec, warn: Warn): Pick<ProcessConfig, "keepGroups"> {
  const value = annotations?.[KEEP_GROUPS];
  if (value === undefined || value === "0") return {};
  if (process?.user?.additionalGids?.length) {
    const pointer = "/process/user/additionalGids";
    warn("groups-kept", pointer, `process.user.additionalGids has no effect with the annotation ${KEEP_GROUPS}`);
  }
  return { keepGroups: true };
}

/** linux.netDevices, in the order of the configuration. An empty name is an absent one. */
export function deriveNetDevices(devices: SpecLinux["netDevices"]): readonly NetDeviceConfig[] {
  return Object.entries(devices ?? {}).map(([device, { name }]) => ({
    from: `/linux/netDevices/${pointerToken(device)}`,
    device,
    name: name || device,
  }));
}

/**
 * linux.rootfsPropagation words (config-linux) and the recursive forms runc takes. MS_* flags; 0 for
 * the empty word.
 */
export function propagationFlags(word: string): number {
  if (word === "") return 0;
  const flags = MOUNT_OPTIONS.get(word)?.propagation;
  if (flags === undefined) {
    throw new RuntError("config-invalid", `unknown rootfsPropagation "${word}"`, {
      pointer: "/linux/rootfsPropagation",
      finding: "root-propagation-unknown",
    });
  }
  return flags;
}

/** crun's annotation: an unknown system call is an error instead of a warning. */
const UNKNOWN_CALLS = "run.oci.seccomp_fail_unknown_syscall";

/** As with crun every value but "0". */
export function refusesUnknownCalls(annotations: Readonly<Record<string, string>> | null | undefined): boolean {
  const value = annotations?.[UNKNOWN_CALLS];
  return value !== undefined && value !== "0";
}

/** @throws RuntError config-invalid, always */
export function refuseUnknownCalls(names: string): never {
  throw new RuntError("config-invalid", `linux.seccomp: unknown system calls: ${names}`, {
    pointer: "/linux/seccomp/syscalls",
    hint: `the annotation ${UNKNOWN_CALLS} makes this an error`,
  });
}

/** In place of the warning that deriveSeccomp has. */
const refuseWarned: Warn = (_code, _pointer, message) => refuseUnknownCalls(message.slice(message.lastIndexOf(": ") + 2));
