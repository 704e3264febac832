/** A container's cgroup as a transient unit of systemd: what to ask systemd for, and what is left to write. Pure. */
import type { ResourceConfig } from "../../../config/index.ts";
import { RuntError } from "../../../errors/index.ts";
import { compileCgroup } from "../../compile/index.ts";
import type { CgroupSteps } from "../../compile/steps.ts";
import { allowList } from "../../devices/emulator.ts";
import type { DeviceException, DeviceList } from "../../devices/rule.ts";
import { type CgroupHierarchies, type CgroupHierarchy, cgroupDirectories } from "../../model.ts";
import { annotationProperties } from "./annotations.ts";
import { compileLimits } from "./limits.ts";
import { lastOfEach, type Property, printProperty, property, type Version } from "./property.ts";
import { parseUnit, type Unit } from "./unit.ts";

/** How to reach a manager: a socket by path ("@..." is abstract), `direct` without a message bus in between. */
export interface ManagerSocket {
  readonly socket: string;
  readonly direct: boolean;
}

/** What the host's systemd is. */
export interface SystemdFacts extends ManagerSocket {
  /** 252. May have to be asked for. */
  readonly version: Version;
  /** The manager's own cgroup: "" for that of the system, "/user.slice/..." for a user's. */
  readonly root: string;
  /** A user's own manager. */
  readonly user: boolean;
}

/** How init gets into its cgroup. */
export interface UnitJoin extends ManagerSocket {
  readonly unit: string;
  /** Properties as `parseProperty` reads them; beside them PIDs, with the pid of init, if `withInit`. */
  readonly properties: readonly string[];
  /** A slice is made without processes. */
  readonly withInit: boolean;
  /** Files that init's pid is written to afterwards. */
  readonly attach: readonly string[];
}

export interface UnitSteps extends Omit<CgroupSteps, "join"> {
  readonly join: UnitJoin;
}

export interface UnitInput {
  readonly id: string;
  readonly cgroupsPath: string;
  readonly resources: ResourceConfig;
  readonly annotations: Readonly<Record<string, string>>;
  /** No rights on the host: device rules are left out. */
  readonly rootless: boolean;
}

export interface CompiledUnit {
  readonly steps: UnitSteps;
  /** Below every hierarchy's mount point. */
  readonly path: string;
}

/** @throws RuntError config-invalid or cgroup */
export function compileUnit(facts: CgroupHierarchies, systemd: SystemdFacts, input: UnitInput): CompiledUnit {
  if (systemd.user && facts.version === 1) throw new RuntError("cgroup", "cannot use rootless systemd cgroups manager on cgroup v1");
  const unit = parseUnit(input.cgroupsPath, input.id, systemd.user ? "user.slice" : "system.slice");
  const path = systemd.root + unit.path;
  // systemd itself follows the processes of a unit in the v2 hierarchy of a hybrid host.
  const { unified: _, ...steps } = compileCgroup(facts, path, input.resources, { rootless: input.rootless });
  const limits = compileLimits(facts.version, steps.writes, systemd.version);
  const warnings = [...steps.warnings];
  const warn = (text: string) => warnings.push(`linux.resources.devices: ${text}`);
  // On v2 the program that runt attaches is beside whatever systemd attaches. On v1 they write the same files.
  const devices = input.rootless || facts.version === 2 ? [] : deviceProperties(allowList(input.resources), systemd.version, warn);
  const properties = lastOfEach([
    ...commonProperties(unit, input.id, facts.version),
    ...devices,
    ...limits.properties,
    ...annotationProperties(input.annotations),
  ]);
  // systemd makes and joins its own hierarchy; on v1 the others too, but only those of its controllers.
  const others = facts.hierarchies.filter((hierarchy) => unit.slice === undefined || !isOwn(facts, hierarchy));
  const directories = cgroupDirectories({ ...facts, hierarchies: others }, path);
  const attached = facts.version === 1 ? directories : unit.slice === undefined ? cgroupDirectories(facts, path) : [];
  const join: UnitJoin = {
    unit: unit.name,
    properties: properties.map(printProperty),
    withInit: unit.slice !== undefined,
    socket: systemd.socket,
    direct: systemd.direct,
    attach: attached.map((directory) => `${directory}/${facts.version === 1 ? "tasks" : "cgroup.procs"}`),
  };
  const create = facts.version === 1 ? directories.map((directory) => ({ path: directory })) : steps.create;
  return { path, steps: { ...steps, create, writes: limits.writes, warnings, join } };
}

function isOwn({ version }: CgroupHierarchies, { controllers }: CgroupHierarchy): boolean {
  return version === 1 && controllers.includes("name=systemd");
}

/** The accounting makes systemd hand the controllers down; DefaultDependencies would stop containers before everything else. */
function commonProperties({ slice }: Unit, id: string, version: 1 | 2): Property[] {
  const accounting = ["Memory", "CPU", version === 2 ? "IO" : "BlockIO", "Tasks"];
  return [
    property("Description", "s", `runt container ${id}`),
    ...(slice === undefined ? [] : [property("Slice", "s", slice), property("Delegate", "b", true)]),
    ...accounting.map((name) => property(`${name}Accounting`, "b", true)),
    property("DefaultDependencies", "b", false),
  ];
}

/** Before this version a device number without a path ("char-136") is not understood. */
const NUMBERED_GROUPS = 240;
const WORDS = { b: "block", c: "char" } as const;

/**
 * The device list as systemd takes it. Source: systemd.resource-control(5), DeviceAllow=. For cgroup
 * v1. systemd takes a list of what is allowed and nothing else. The list that holds is written by runt
 * either way; this is what systemd falls back to when it is reloaded.
 */
export function deviceProperties({ defaultAllow, exceptions }: DeviceList, systemd: Version, warn: (text: string) => void): Property[] {
  if (defaultAllow && exceptions.length === 0) return policy("auto", []);
  if (defaultAllow) {
    // systemd and runt write the same files: what systemd does not know, it must not open.
    warn("systemd cannot except devices from what is allowed: when it is reloaded, it denies all devices");
    return policy("strict", []);
  }
  const entries: [string, string][] = [];
  for (const exception of exceptions) {
    const name = nodeName(exception, systemd);
    if (name !== undefined) entries.push([name, exception.access]);
    else warn(`systemd ${systemd()} cannot name the devices ${exception.type} ${number(exception.major)}:${number(exception.minor)}`);
  }
  return policy("strict", entries);
}

function policy(name: "auto" | "strict", entries: [string, string][]): Property[] {
  return [property("DevicePolicy", "s", name), property("DeviceAllow", "a(ss)", entries)];
}

function nodeName({ type, major, minor }: DeviceException, systemd: Version): string | undefined {
  const word = WORDS[type];
  if (major >= 0 && minor >= 0) return `/dev/${word}/${major}:${minor}`;
  if (minor >= 0) return undefined;
  if (major < 0) return `${word}-*`;
  return systemd() >= NUMBERED_GROUPS ? `${word}-${major}` : undefined;
}

function number(value: number): string {
  return value < 0 ? "*" : String(value);
}
