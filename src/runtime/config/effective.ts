/**
 * ContainerConfig -> its settings as names and texts, for comparing two of them: what is equal here makes equal containers. Where order
 * means nothing it is taken away, where a bundle lies means nothing either. Pure.
 */
import { CAPABILITIES } from "../../shared/linux/index.ts";
import { mountText, mountWords } from "./mount-text.ts";
import type { ContainerConfig, IdMapping, MountConfig, ProcessConfig } from "./types.ts";

/** A value of which some part is a list of words. */
export interface Worded {
  readonly text: string;
  readonly words: readonly string[];
}

/** Name of a setting -> its value. */
export type Effective = ReadonlyMap<string, string | Worded>;

export function effectiveSettings(config: ContainerConfig): Effective {
  const found = new Map<string, string | Worded>();
  const put = (name: string, value: unknown): void => {
    if (value !== undefined) found.set(name, typeof value === "string" ? value : textOf(value));
  };
  const { bundle, rootfs, process, namespaces, mounts, devices, annotations, sysctl, hooks, resources } = config;
  put("root.path", below(bundle, rootfs));
  put("root.readonly", config.rootReadonly);
  put("root.propagation", config.rootfsPropagation);
  put("hostname", config.hostname);
  put("domainname", config.domainname);
  for (const [key, value] of Object.entries(annotations)) put(`annotations ${key}`, value);
  for (const { type, path } of namespaces) put(`namespace ${type}`, path ?? "new");
  put("uidMappings", mappings(config.uidMappings));
  put("gidMappings", mappings(config.gidMappings));
  put("timeOffsets", config.timeOffsets);
  mounts.forEach((mount) => {
    putMount(found, bundle, mount);
  });
  for (const { path, from: _, ...node } of devices) put(`device ${path}`, node);
  for (const { device, name } of config.netDevices) put(`netDevice ${device}`, name);
  put("mountLabel", config.mountLabel);
  for (const path of config.maskedPaths) put(`maskedPath ${path}`, "masked");
  for (const path of config.readonlyPaths) put(`readonlyPath ${path}`, "read-only");
  for (const { path, value } of sysctl) put(`sysctl ${path.replaceAll("/", ".")}`, value);
  put("seccomp", config.seccomp);
  putSeccomp(put, config);
  put("cgroupsPath", config.cgroupsPath);
  putResources(put, resources);
  put("intelRdt", config.intelRdt);
  put("memoryPolicy", config.memoryPolicy);
  put("personality", config.personality);
  for (const [kind, list] of Object.entries(hooks)) for (const [index, hook] of list.entries()) put(`hook ${kind} ${index}`, hook);
  if (process) putProcess(put, process);
  else put("process", "none");
  return found;
}

type Put = (name: string, value: unknown) => void;

function putProcess(put: Put, process: ProcessConfig): void {
  const { env, capabilities, rlimits, uid, gid, additionalGids, ...rest } = process;
  put("process.user", `${uid}:${gid}`);
  put(
    "process.additionalGids",
    [...additionalGids].sort((a, b) => a - b),
  );
  for (const [name, value] of Object.entries(rest)) put(`process.${name}`, value);
  for (const entry of env) {
    const equals = entry.indexOf("=");
    put(`env ${equals < 0 ? entry : entry.slice(0, equals)}`, equals < 0 ? "" : entry.slice(equals + 1));
  }
  for (const [set, bits] of Object.entries(capabilities ?? {})) {
    CAPABILITIES.forEach((name, bit) => {
      if ((bits >> BigInt(bit)) & 1n) put(`capability ${set} ${name}`, "yes");
    });
  }
  for (const { type, soft, hard } of rlimits) put(`rlimit ${type}`, `${soft}:${hard}`);
}

/** Several mounts at one place are told apart by their order. */
function putMount(found: Map<string, string | Worded>, bundle: string, mount: MountConfig): void {
  let name = `mount ${mount.target}`;
  for (let count = 2; found.has(name); count++) name = `mount ${mount.target} (${count})`;
  const source = "source" in mount ? (mount.kind === "bind" ? below(bundle, mount.source) : mount.source) : undefined;
  found.set(name, { text: mountText(mount, source), words: mountWords(mount) });
}

function putSeccomp(put: Put, { seccompProfile }: ContainerConfig): void {
  if (!seccompProfile) return;
  const { rules, ...rest } = seccompProfile;
  put("seccomp.profile", rest);
  // Rules with conditions are alternatives to each other: their order counts within one system call.
  const byCall = new Map<string, string[]>();
  for (const { names, action, conditions } of rules) {
    for (const name of names) byCall.set(name, [...(byCall.get(name) ?? []), textOf({ action, conditions })]);
  }
  for (const [name, list] of byCall) put(`seccomp ${name}`, list.join(" or "));
}

function putResources(put: Put, resources: ContainerConfig["resources"]): void {
  for (const [section, values] of Object.entries(resources)) {
    if (values === undefined || (Array.isArray(values) && values.length === 0)) continue;
    if (typeof values === "object" && !Array.isArray(values)) {
      for (const [name, value] of Object.entries(values)) {
        if (Array.isArray(value) && value.length === 0) continue;
        put(`resources.${section}.${name}`, value);
      }
    } else put(`resources.${section}`, values);
  }
}

function mappings(list: readonly IdMapping[]): string | undefined {
  if (list.length === 0) return undefined;
  return list.map(({ containerId, hostId, size }) => `${containerId}:${hostId}+${size}`).join(",");
}

/** Inside the bundle it does not matter where the bundle is. */
function below(bundle: string, path: string): string {
  return path.startsWith(`${bundle}/`) ? `BUNDLE${path.slice(bundle.length)}` : path;
}

/** Keys in order, 64-bit numbers as they are, without the pointers to where things stood. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (key, part: unknown) => {
    if (key === "from") return undefined;
    if (typeof part === "bigint") return part.toString();
    if (typeof part === "object" && part !== null && !Array.isArray(part))
      return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
    return part;
  });
}

/** What differs between two sets of settings. Pure. */
export interface Difference {
  readonly setting: string;
  /** undefined: it is not there. */
  readonly before?: string;
  readonly after?: string;
  /** Of a setting with words (the options of a mount) that both have: "+WORD" is new, "-WORD" is gone. */
  readonly words?: readonly string[];
}

/** Sorted by name. */
export function differences(before: Effective, after: Effective): Difference[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const [one, other] = [before.get(name), after.get(name)];
    const [was, is] = [shown(one), shown(other)];
    if (was === is) return [];
    const words = changedWords(wordsOf(one), wordsOf(other));
    return {
      setting: name,
      ...(was !== undefined && { before: was }),
      ...(is !== undefined && { after: is }),
      ...(words.length > 0 && { words }),
    };
  });
}

function shown(value: string | Worded | undefined): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  return value.words.length === 0 ? value.text : `${value.text} (${value.words.join(", ")})`;
}

function wordsOf(value: string | Worded | undefined): readonly string[] | undefined {
  return typeof value === "object" ? value.words : undefined;
}

function changedWords(before: readonly string[] | undefined, after: readonly string[] | undefined): string[] {
  if (before === undefined || after === undefined) return [];
  return [
    ...after.filter((word) => !before.includes(word)).map((word) => `+${word}`),
    ...before.filter((word) => !after.includes(word)).map((word) => `-${word}`),
  ];
}
