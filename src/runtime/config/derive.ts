/** Spec -> ContainerConfig: names to numbers, relative to absolute, defaults filled in. Pure. */
import { RuntError } from "../errors/index.ts";
import { absolutePath, type Spec } from "../spec/index.ts";
import { NO_CAPABILITIES } from "./capabilities.ts";
import { deviceRuleMode } from "./device-rules.ts";
import { deriveDevices, mountedInDev } from "./devices.ts";
import { deriveHooks } from "./hooks.ts";
import { deriveIntelRdt } from "./intel-rdt.ts";
import { keptGroups } from "./kept-groups.ts";
import { deriveMount } from "./mounts.ts";
import { deriveIdMappings, deriveNamespaces, deriveTimeOffsets } from "./namespaces.ts";
import { deriveNetDevices } from "./net-devices.ts";
import { deriveMemoryPolicy, derivePersonality } from "./policies.ts";
import { deriveProcess } from "./process.ts";
import { propagationFlags } from "./propagation.ts";
import { deriveResources } from "./resources.ts";
import { deriveSeccomp } from "./seccomp.ts";
import { deriveSysctl } from "./sysctl.ts";
import type { ContainerConfig } from "./types.ts";
import { refusesUnknownCalls, refuseWarned } from "./unknown-calls.ts";
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
  return {
    ociVersion: spec.ociVersion,
    bundle: context.bundle,
    rootfs: absolutePath(context.bundle, spec.root.path),
    rootReadonly: spec.root.readonly === true,
    rootfsPropagation: propagationFlags(linux?.rootfsPropagation ?? ""),
    ...(spec.hostname && { hostname: spec.hostname }),
    ...(spec.domainname && { domainname: spec.domainname }),
    annotations: spec.annotations ?? {},
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
