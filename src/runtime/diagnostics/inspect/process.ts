/** The process that was asked for, beside what /proc/PID/status and its neighbours say. Pure. */
import type { CapabilitySets, ContainerConfig, IdMapping, ProcessConfig } from "../../config/index.ts";
import { capabilityList, octal } from "../../plan/index.ts";
import { parseFields, parseIdMap, parseLimits, parseMask } from "../../prepare/index.ts";
import { type Setting, setting } from "./settings.ts";

/** Texts of /proc/PID; undefined where they cannot be read. */
export interface ProcessTexts {
  readonly status?: string | undefined;
  readonly limits?: string | undefined;
  readonly oomScoreAdj?: string | undefined;
  readonly cwd?: string | undefined;
  readonly label?: string | undefined;
  readonly uidMap?: string | undefined;
  readonly gidMap?: string | undefined;
  /** Of the one who looks: what the container's host applies to everybody is no drift. */
  readonly ownSeccomp?: string | undefined;
}

const INFINITY = (1n << 64n) - 1n;

/** @param started false: init still waits for `start`, and is not the process that was asked for yet */
export function processSettings(config: ContainerConfig, texts: ProcessTexts, started: boolean): Setting[] {
  const { process } = config;
  const rows = process ? [...identity(process, config, texts), ...rights(process, config, texts), ...limits(process, texts)] : [];
  const all = [...rows, ...idMaps(config, texts)];
  return started ? all : all.map((row) => ({ ...row, drift: false }));
}

function identity(process: ProcessConfig, { uidMappings, gidMappings }: ContainerConfig, texts: ProcessTexts): Setting[] {
  const status = parseFields(texts.status ?? "");
  const effective = (name: string) => status.get(name)?.split(/\s+/)[1];
  const groups = status.get("Groups");
  const sorted = (ids: readonly (string | number)[]) =>
    ids
      .map(Number)
      .sort((a, b) => a - b)
      .join(" ");
  const asked = process.additionalGids.map((gid) => hostId(gidMappings, gid));
  return [
    setting("process", "user", "/process/user/uid", hostId(uidMappings, process.uid), effective("Uid")),
    setting("process", "group", "/process/user/gid", hostId(gidMappings, process.gid), effective("Gid")),
    setting(
      "process",
      "groups",
      "/process/user/additionalGids",
      sorted(asked),
      groups === undefined ? undefined : sorted(groups.split(/\s+/).filter(Boolean)),
    ),
    setting(
      "process",
      "umask",
      "/process/user/umask",
      octal(process.umask),
      status.has("Umask") ? octal(Number.parseInt(status.get("Umask")!, 8)) : undefined,
    ),
    setting("process", "cwd", "/process/cwd", process.cwd.replace(/(.)\/+$/, "$1"), texts.cwd),
  ];
}

/** The id on the host, where /proc shows it; the container's own in a user namespace that is joined. */
function hostId(mappings: readonly IdMapping[], id: number): string {
  const mapping = mappings.find(({ containerId, size }) => id >= containerId && id < containerId + size);
  return String(mapping ? mapping.hostId + id - mapping.containerId : id);
}

const SETS = [
  ["bounding", "CapBnd"],
  ["permitted", "CapPrm"],
  ["effective", "CapEff"],
  ["inheritable", "CapInh"],
  ["ambient", "CapAmb"],
] as const;

function rights(process: ProcessConfig, { seccomp }: ContainerConfig, texts: ProcessTexts): Setting[] {
  const status = parseFields(texts.status ?? "");
  const after = process.capabilities && afterExecve(process.capabilities, process);
  const sets = SETS.flatMap(([name, field]) => {
    if (!after) return [];
    const found = status.get(field);
    return setting(
      "process",
      `capabilities ${name}`,
      `/process/capabilities/${name}`,
      capabilityList(after[name]),
      found === undefined ? undefined : capabilityList(parseMask(found)),
    );
  });
  const mode = status.get("Seccomp");
  const filter = mode === undefined ? undefined : mode === "2" ? "filter" : "none";
  const asked = seccomp ? "filter" : texts.ownSeccomp === "2" ? undefined : "none";
  const label = process.apparmorProfile ?? process.selinuxLabel;
  return [
    ...sets,
    setting("process", "no_new_privs", "/process/noNewPrivileges", process.noNewPrivileges ? "1" : "0", status.get("NoNewPrivs")),
    setting("process", "seccomp", "/linux/seccomp", asked, filter),
    ...(label === undefined
      ? []
      : [
          setting(
            "process",
            "label",
            process.apparmorProfile === undefined ? "/process/selinuxLabel" : "/process/apparmorProfile",
            label,
            texts.label,
            (wanted, found) => found.split(" ")[0] === wanted,
          ),
        ]),
  ];
}

/**
 * What execve(2) of an ordinary program makes of the sets that were asked for (capabilities(7), Transformation of capabilities): root
 * gets what is inheritable or in the bounding set, everybody else what is ambient. With no_new_privs nothing is gained.
 */
export function afterExecve(
  { bounding, inheritable, permitted, ambient }: CapabilitySets,
  { uid, noNewPrivileges }: ProcessConfig,
): CapabilitySets {
  const gained = uid === 0 ? inheritable | bounding : ambient;
  const held = noNewPrivileges ? gained & permitted : gained;
  return { bounding, inheritable, permitted: held, effective: held, ambient: uid === 0 ? ambient & held : ambient };
}

function limits(process: ProcessConfig, texts: ProcessTexts): Setting[] {
  const found = texts.limits === undefined ? undefined : parseLimits(texts.limits);
  const one = (value: bigint) => (value === INFINITY ? "unlimited" : String(value));
  const rows = process.rlimits.map(({ type, soft, hard, from }) => {
    const kernel = found?.[type];
    return setting("process", type, from, `${one(soft)}:${one(hard)}`, kernel && `${kernel[0]}:${kernel[1]}`);
  });
  if (process.oomScoreAdj === undefined) return rows;
  return [...rows, setting("process", "oom_score_adj", "/process/oomScoreAdj", String(process.oomScoreAdj), texts.oomScoreAdj)];
}

function idMaps({ uidMappings, gidMappings, namespaces }: ContainerConfig, texts: ProcessTexts): Setting[] {
  if (!namespaces.some(({ type }) => type === "user")) return [];
  return [
    ["uid_map", "/linux/uidMappings", uidMappings, texts.uidMap] as const,
    ["gid_map", "/linux/gidMappings", gidMappings, texts.gidMap] as const,
  ].flatMap(([name, from, mappings, text]) => {
    if (mappings.length === 0) return [];
    const asked = mappings
      .map(({ containerId, hostId: outside, size }) => `${containerId}:${outside}+${size}`)
      .sort()
      .join(" ");
    const kernel =
      text === undefined
        ? undefined
        : parseIdMap(text)
            .map(({ inside, outside, size }) => `${inside}:${outside}+${size}`)
            .sort()
            .join(" ");
    return setting("process", name, from, asked, kernel);
  });
}
