/** An OCI configuration of the caller -> the one that an executor runs. Pure. */

import { resolve } from "node:path";
import { fieldsOf } from "../../shared/text/index.ts";
import type { NamespaceType } from "../profile.ts";
import type { ConfigLaunch, LaunchCommand, OciObject } from "./command.ts";

/** What toConfig has found out for it. */
export interface Completion {
  /** undefined: it has no cgroup of its own. */
  readonly cgroupsPath: string | undefined;
  /** Of each type that the launch names: its entry, or none. */
  readonly namespaces: ReadonlyMap<NamespaceType, OciObject | undefined>;
  /** The entry of the user namespace that the launch names, or none. */
  readonly users: readonly OciObject[];
  readonly resources: OciObject;
  readonly terminal: OciObject;
}

/** Directory of the root file system of a launch. */
export function rootfsOf(command: LaunchCommand): string {
  if (!("config" in command)) return command.rootfs;
  const { path } = objectIn(command.config, "root");
  return resolve(command.bundle, typeof path === "string" ? path : "rootfs");
}

export function processIn(command: LaunchCommand): OciObject | undefined {
  if ("config" in command) return objectIn(command.config, "process");
  return "process" in command ? command.process : undefined;
}

export function completeConfig(command: ConfigLaunch, { cgroupsPath, namespaces, users, resources, terminal }: Completion): OciObject {
  const { config, bundle, mounts = [], annotations } = command;
  const { cgroupsPath: _, resources: own, ...linux } = objectIn(config, "linux");
  const limits = cgroupsPath === undefined ? {} : { cgroupsPath, resources: mergeResources(objectIn({ own }, "own"), resources) };
  return {
    ...config,
    process: { ...objectIn(config, "process"), ...terminal },
    root: { ...objectIn(config, "root"), path: rootfsOf(command) },
    mounts: [...listIn(config, "mounts").map((mount) => withAbsoluteSource(mount, bundle)), ...mounts],
    annotations: { ...objectIn(config, "annotations"), ...annotations },
    linux: {
      ...linux,
      ...limits,
      namespaces: [
        ...listIn(linux, "namespaces").filter(
          ({ type }) => !namespaces.has(type as NamespaceType) && !(type === "user" && users.length > 0),
        ),
        ...[...namespaces.values()].filter((entry) => entry !== undefined),
        ...users,
      ],
    },
  };
}

/** Of a bind, a path that is not absolute counts from the bundle (runtime-spec, config.md). */
function withAbsoluteSource(mount: OciObject, bundle: string): OciObject {
  const { type, source, options } = mount;
  const isBind = type === "bind" || (Array.isArray(options) && (options.includes("bind") || options.includes("rbind")));
  return isBind && typeof source === "string" ? { ...mount, source: resolve(bundle, source) } : mount;
}

/** The limits of each controller, one by one. */
function mergeResources(given: OciObject, own: OciObject): OciObject {
  const merged = Object.entries(own).map(([controller, limits]) => [
    controller,
    { ...objectIn(given, controller), ...(limits as OciObject) },
  ]);
  return { ...given, ...Object.fromEntries(merged) };
}

/** What is not there, or is none, is empty: the runtime says what is wrong with it. */
function objectIn(value: OciObject, name: string): OciObject {
  return fieldsOf(value[name]);
}

function listIn(value: OciObject, name: string): readonly OciObject[] {
  const found = value[name];
  return Array.isArray(found) ? found : [];
}
