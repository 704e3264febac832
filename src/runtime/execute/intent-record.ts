/** The record that a container begins with: it names everything that may have to be undone. */

import { type CgroupBefore, levelsToMake, refuseUsed } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { refuseExisting, rootDirectory, STATE_MINOR, STATE_SCHEMA, type StateRecord, timestamp } from "../state/index.ts";
import type { Blueprint } from "./execution.ts";
import { hooksRecord } from "./hooks.ts";

/** To be called just before it is written: it says which of the container's cgroups are there already. @throws RuntError cgroup, id-in-use */
export function newRecord(root: string, blueprint: Blueprint): StateRecord {
  const { cgroup, id } = blueprint;
  return intentRecord(blueprint, cgroup ? lookBefore(root, id, cgroup) : {}, rootDirectory(root));
}

/** Another create of the same id may have been quicker: then that is the reason why the cgroup is in use. */
function lookBefore(root: string, id: string, cgroup: NonNullable<Blueprint["cgroup"]>): CgroupBefore {
  try {
    return levelsToMake(cgroup) ?? refuseUsed(cgroup);
  } catch (error) {
    refuseExisting(root, id);
    throw error;
  }
}

export function intentRecord(
  { id, bundle, config, cgroup, resctrl, warnings, digest }: Omit<Blueprint, "keyring">,
  before: CgroupBefore,
  directory?: string,
): StateRecord {
  return {
    schema: STATE_SCHEMA,
    minor: STATE_MINOR,
    id,
    phase: "creating",
    ociVersion: config.ociVersion,
    bundle,
    rootfs: config.rootfs,
    created: timestamp(),
    owner: host.geteuid(),
    pid: 0,
    startTime: "0",
    // What a summary has comes first (src/runtime/state/record.ts).
    annotations: config.annotations,
    // systemd decides what stays of the cgroup of a unit.
    ...(cgroup ? { cgroup: { ...cgroup, ...(cgroup.systemd ? {} : before) } } : {}),
    ...(resctrl && { resctrl }),
    startable: config.process !== undefined,
    privatePid: config.namespaces.some(({ type, path }) => type === "pid" && path === undefined),
    ...(directory !== undefined && { directory }),
    machine: config.machine ?? null,
    exec: NOT_YET,
    ...hooksRecord(config.hooks),
    ...(digest !== undefined && { planDigest: digest }),
    warnings,
  };
}

/** There is no exec while the container is being made. */
const NOT_YET = { unknown: true, namespaces: [], chroot: false, keyring: false } as const;
